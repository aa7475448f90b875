import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/**/*.itg.test.ts'] } },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.itg.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          // One file at a time: they share the machine's two cores, and some of them measure.
          fileParallelism: false,
        },
      },
    ],
  },
})
