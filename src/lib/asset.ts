import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Entries that run in a process of their own. */
export type WorkerName = 'autocannon-worker'

/**
 * Absolute path of a worker's script: in `src/engine` when run from sources, beside the bundle when bundled.
 * esbuild leaves `import.meta.url` empty in a CommonJS bundle, so the build defines it as the bundle's own URL.
 */
export function workerScript(name: WorkerName): string {
  const self = fileURLToPath(import.meta.url)
  return self.endsWith('.ts')
    ? join(dirname(self), '..', 'engine', `${name}.ts`)
    : join(dirname(self), `${name}.cjs`)
}
