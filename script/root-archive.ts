/** A root file system for `docker import`, put together from files of this machine without copying them first. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  closure,
  loadFiles,
  loadPackages,
  loadStatus,
  loadTree,
  type Package,
  withParents,
} from './debian-packages.ts'

/** A directory of this machine that appears elsewhere in the image. */
export interface Tree {
  readonly from: string
  readonly to: string
  /** Paths relative to `from` that stay out, with all below. */
  readonly exclude: readonly string[]
}

/** What an image consists of besides a minimal Debian system. */
export interface Contents {
  /** Names of installed packages. */
  readonly packages: readonly string[]
  readonly trees: readonly Tree[]
  /** Symbolic links: path in the image, and what it says. */
  readonly links?: Readonly<Record<string, string>>
  /** An ordinary user, with a group of the same name and number. */
  readonly user?: { readonly name: string; readonly id: number }
}

/** What a minimal system has besides the base packages: a way to install more, and the roots of trust. */
const minimalPackages = ['apt', 'ca-certificates']

/** Files that installation scripts wrote, so that no package lists them. */
const writtenOnInstall = [
  '/etc/ca-certificates.conf',
  '/etc/debconf.conf',
  '/etc/ld.so.cache',
  '/etc/os-release',
  '/etc/shells',
]

/** Where a distribution says what to install from; apt's settings, proxies and credentials of this machine stay here. */
const packageSources = [
  '/etc/apt/sources.list',
  '/etc/apt/sources.list.d/debian.sources',
  '/etc/apt/sources.list.d/ubuntu.sources',
]

/** Directories that a system has although no package with files needs them. */
const directories: readonly (readonly [path: string, mode: number])[] = [
  ['/boot', 0o755],
  ['/dev', 0o755],
  ['/home', 0o755],
  ['/media', 0o755],
  ['/mnt', 0o755],
  ['/opt', 0o755],
  ['/proc', 0o555],
  ['/root', 0o700],
  ['/run', 0o755],
  ['/run/lock', 0o1777],
  ['/srv', 0o755],
  ['/sys', 0o555],
  ['/tmp', 0o1777],
  ['/usr/local/bin', 0o755],
  ['/var/cache/apt/archives/partial', 0o755],
  ['/var/cache/debconf', 0o755],
  ['/var/lib/apt/lists/partial', 0o755],
  ['/var/lib/dpkg/parts', 0o755],
  ['/var/lib/dpkg/triggers', 0o755],
  ['/var/lib/dpkg/updates', 0o755],
  ['/var/log/apt', 0o755],
  ['/var/tmp', 0o1777],
]

/** Makes the image `tag` with `contents`; `changes` are Dockerfile instructions. Throws when tar or Docker fails. */
export async function importImage(
  tag: string,
  contents: Contents,
  changes: readonly string[],
): Promise<void> {
  const packages = loadPackages()
  const base = [...packages.values()].filter((one) => one.base).map((one) => one.name)
  const wanted = closure(packages, [...base, ...minimalPackages, ...contents.packages])

  await using scratch = await mkdtempDisposable(join(tmpdir(), 'base-image-'))
  const staging = join(scratch.path, 'root')
  const made = stage(staging, wanted, contents)
  const host = [...systemFiles(wanted)].filter((path) => !made.has(path))
  const taken = new Set([...made, ...host])
  const moved = contents.trees.flatMap((tree) => treeFiles(tree, taken))

  const staged = join(scratch.path, 'staged')
  const inPlace = join(scratch.path, 'in-place')
  writeFileSync(staged, nulTerminated([...made].sort()))
  writeFileSync(inPlace, nulTerminated([...host, ...moved].sort()))

  const list = ['--no-recursion', '--null', '--verbatim-files-from']
  await pipe(
    // `S` keeps the targets of symbolic links as they are.
    [
      'tar',
      '--create',
      '--numeric-owner',
      ...contents.trees.map((tree) => `--transform=${renaming(tree)}S`),
    ].concat(
      ['--directory', staging, ...list, '--files-from', staged],
      ['--directory', '/', ...list, '--files-from', inPlace],
    ),
    ['docker', 'import', ...changes.flatMap((change) => ['--change', change]), '-', tag],
  )
}

/** tar's member names are relative, so that they can be unpacked anywhere. */
function nulTerminated(paths: readonly string[]): string {
  return paths.map((path) => `${path.slice(1)}\0`).join('')
}

/** sed's instruction that moves the paths of `tree`. */
function renaming(tree: Tree): string {
  const pattern = tree.from.slice(1).replace(/[.*[\]^$\\,]/g, '\\$&')
  return `s,^${pattern}/,${tree.to.slice(1)}/,`
}

/** The paths on this machine of what `tree` brings, without those whose place in the image is `taken`. */
function treeFiles(tree: Tree, taken: ReadonlySet<string>): string[] {
  const excluded = tree.exclude.map((path) => join(tree.from, path))
  return loadTree(tree.from).filter(
    (path) =>
      path !== tree.from &&
      !excluded.some((one) => path === one || path.startsWith(`${one}/`)) &&
      !taken.has(tree.to + path.slice(tree.from.length)),
  )
}

/** The files of `packages` with those that their installation wrote, and this machine's roots of trust. */
function systemFiles(packages: ReadonlySet<Package>): ReadonlySet<string> {
  const there = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return withParents([
    ...loadFiles(packages),
    ...writtenOnInstall.filter(there),
    ...packageSources.filter(there).filter((path) => !/:\/\/[^/\s]*@/.test(readFileSync(path, 'utf8'))),
    ...['/etc/ssl/certs', '/usr/local/share/ca-certificates', '/etc/pam.d'].flatMap(loadTree),
  ])
}

/** Writes what must not be this machine's own (users, host names, dpkg's state) below `root`; returns the paths made. */
function stage(root: string, packages: ReadonlySet<Package>, contents: Contents): ReadonlySet<string> {
  const made = new Set<string>()
  const directory = (path: string, mode: number): void => {
    mkdirSync(join(root, path), { recursive: true })
    chmodSync(join(root, path), mode)
    made.add(path)
  }
  const file = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
    chmodSync(join(root, path), mode)
    made.add(path)
  }

  for (const [path, mode] of directories) directory(path, mode)
  file('/etc/hostname', 'localhost\n')
  file('/etc/hosts', '127.0.0.1 localhost\n')
  file('/etc/resolv.conf', '')
  file('/var/lib/dpkg/available', '')
  file('/var/lib/dpkg/status', loadStatus(packages))

  const { user } = contents
  const master = (name: string): string => readFileSync(`/usr/share/base-passwd/${name}.master`, 'utf8')
  const users = master('passwd').replace(/^([^:]+):[^:]*:/gm, '$1:x:')
  const ordinary =
    user === undefined ? '' : `${user.name}:x:${user.id}:${user.id}::/home/${user.name}:/bin/sh\n`
  const passwd = `${users}_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n${ordinary}`
  file('/etc/passwd', passwd)
  file('/etc/group', master('group') + (user === undefined ? '' : `${user.name}:x:${user.id}:\n`))
  // No password opens any account.
  file('/etc/shadow', passwd.replace(/^([^:]+):.*$/gm, '$1:*:19000:0:99999:7:::'), 0o640)
  file('/etc/gshadow', '', 0o640)
  for (const [path, target] of Object.entries(contents.links ?? {})) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    symlinkSync(target, join(root, path))
    made.add(path)
  }
  if (user !== undefined) {
    directory(`/home/${user.name}`, 0o755)
    if (process.getuid?.() === 0) chownSync(join(root, 'home', user.name), user.id, user.id)
  }
  return made
}

/** Runs `from | to`. Throws with what they said when one of them fails. */
async function pipe(from: readonly string[], to: readonly string[]): Promise<void> {
  const reader = start(to, 'pipe')
  const writer = start(from, reader.process.stdin ?? 'ignore')
  // The reader sees the end only when no one else holds the pipe open.
  reader.process.stdin?.destroy()
  await Promise.all([writer.end(), reader.end()])
}

/** A started command whose `end` waits for success. */
function start(
  [command = '', ...args]: readonly string[],
  io: 'pipe' | NonNullable<ChildProcess['stdin']> | 'ignore',
): { readonly process: ChildProcess; readonly end: () => Promise<void> } {
  const child =
    io === 'pipe'
      ? spawn(command, args, { stdio: ['pipe', 'ignore', 'pipe'] })
      : spawn(command, args, { stdio: ['ignore', io, 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
  })
  const exit = once(child, 'close')
  return {
    process: child,
    end: async () => {
      const [status] = await exit
      if (status !== 0) throw new Error(`${command} failed: ${said.trim().split('\n').slice(-5).join('\n')}`)
    },
  }
}
