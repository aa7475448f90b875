import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

/** What `script/base-images` does with `images`. */
function baseImages(...images: readonly string[]) {
  const { status, stderr } = spawnSync(resolve('script/base-images'), images, { encoding: 'utf8' })
  return { status, lines: stderr.split('\n').filter((line) => line.startsWith('base-images: ')) }
}

/** What a container of `image` prints when it runs `script`. */
function run(image: string, script: string): string {
  return spawnSync('docker', ['run', '--rm', image, 'sh', '-c', script], { encoding: 'utf8' }).stdout.trim()
}

test('provides the images of the bundled targets, and leaves them alone when they are there', () => {
  expect(baseImages().status).toBe(0)
  expect(baseImages()).toEqual({ status: 0, lines: [] })
  expect(run('node:24-bookworm-slim', 'node --version && id -un node')).toMatch(/^v24\.[\d.]+\nnode$/)
  expect(run('rust:1-bookworm', 'cargo --version && cc --version')).toMatch(/^cargo 1\..*\n.*cc/)
  expect(run('debian:bookworm-slim', 'dpkg --audit && apt-get --version')).toMatch(/^apt 2/)
})

test('refuses an image that it cannot make', () => {
  const { status, lines } = baseImages('bench-action-test/nothing:1')
  expect(status).toBe(1)
  expect(lines.at(-1)).toBe(
    'base-images: there is no stand-in for bench-action-test/nothing:1: only for debian, rust, golang and node',
  )
})
