import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A folder of files that goes away with its scope. */
export interface TempDir extends Disposable {
  /** Absolute. */
  readonly path: string
}

/** Makes a temporary folder that holds these files, by relative path. */
export function makeTempDir(files: Readonly<Record<string, string | Uint8Array>>): TempDir {
  const folder = mkdtempDisposableSync(path.join(tmpdir(), 'bench-action-'))
  for (const [file, content] of Object.entries(files)) {
    const absolute = path.join(folder.path, file)
    mkdirSync(path.dirname(absolute), { recursive: true })
    writeFileSync(absolute, content)
  }
  return { path: folder.path, [Symbol.dispose]: () => folder.remove() }
}
