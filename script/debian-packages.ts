/** Reading dpkg's database: which packages belong together, and which files are theirs. */

import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** An installed package, as far as a closure over dependencies needs it. */
export interface Package {
  readonly name: string
  /** The name that dpkg's own files carry: with the architecture for packages that may be there twice. */
  readonly qualifiedName: string
  /** Part of every system: marked essential, or of priority `required`. */
  readonly base: boolean
  /** Each dependency is a list of alternatives. */
  readonly dependencies: readonly (readonly string[])[]
  readonly provides: readonly string[]
}

/** The lines that `parsePackages` reads, as a format of `dpkg-query --show`. */
export const packageFormat =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders
  '${Package}\t${binary:Package}\t${Architecture}\t${db:Status-Status}\t${Essential}\t${Priority}\t${Pre-Depends}, ${Depends}\t${Provides}\n'

/** The installed packages of `architecture` in `text`, which has the lines of `packageFormat`, by name. */
export function parsePackages(text: string, architecture: string): ReadonlyMap<string, Package> {
  const packages = new Map<string, Package>()
  for (const line of text.split('\n')) {
    const [name, qualifiedName, arch, status, essential, priority, dependencies, provides] = line.split('\t')
    if (name === undefined || qualifiedName === undefined || status !== 'installed') continue
    if (arch !== 'all' && arch !== architecture) continue
    packages.set(name, {
      name,
      qualifiedName,
      base: essential === 'yes' || priority === 'required',
      dependencies: parseRelations(dependencies ?? ''),
      provides: parseRelations(provides ?? '').flat(),
    })
  }
  return packages
}

/** `a (>= 1), b:any | c` as names: `[[a], [b, c]]`. Versions do not matter among packages that are installed together. */
function parseRelations(text: string): string[][] {
  return text
    .split(',')
    .map((relation) =>
      relation
        .split('|')
        .map((name) =>
          name
            .replace(/\(.*?\)/, '')
            .replace(/:.*/, '')
            .trim(),
        )
        .filter((name) => name !== ''),
    )
    .filter((alternatives) => alternatives.length > 0)
}

/** The packages named by `roots` and all that they depend on. Throws for a root that is not installed. */
export function closure(
  packages: ReadonlyMap<string, Package>,
  roots: readonly string[],
): ReadonlySet<Package> {
  const providers = new Map<string, Package>()
  for (const candidate of packages.values()) {
    for (const name of candidate.provides) providers.set(name, candidate)
  }
  const find = (name: string): Package | undefined => packages.get(name) ?? providers.get(name)

  const found = new Set<Package>()
  const add = (candidate: Package): void => {
    if (found.has(candidate)) return
    found.add(candidate)
    for (const alternatives of candidate.dependencies) {
      const installed = alternatives.map(find).find((one) => one !== undefined)
      if (installed !== undefined) add(installed)
    }
  }
  for (const name of roots) {
    const root = find(name)
    if (root === undefined) throw new Error(`the package ${name} is not installed on this machine`)
    add(root)
  }
  return found
}

/** The packages installed on this machine, by name. */
export function loadPackages(): ReadonlyMap<string, Package> {
  const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()
  const text = execFileSync('dpkg-query', ['--show', '--showformat', packageFormat], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  return parsePackages(text, architecture)
}

/** Documentation, translations, caches: big, and no program needs them. Licences stay. */
const superfluous =
  /^\/usr\/share\/(doc|man|info|locale|lintian|bug|gtk-doc|doc-base)\/(?!.*\/copyright$)|^\/var\/cache\//

/**
 * Absolute paths on this machine of everything that `packages` consist of, with the directories above:
 * their files, what dpkg knows about them, and the links that their installation made.
 */
export function loadFiles(packages: ReadonlySet<Package>): ReadonlySet<string> {
  const files = new Set<string>()
  const names = [...packages].map((one) => one.qualifiedName)
  const listing = execFileSync('dpkg-query', ['--listfiles', ...names], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  for (const path of listing.split('\n')) {
    // Lines that are no path tell of diversions.
    if (!path.startsWith('/') || path === '/.' || superfluous.test(path)) continue
    const real = realDirectory(path)
    if (lexists(real)) files.add(real)
  }
  for (const path of [...alternativeLinks(files), ...libraryLinks(files), ...dpkgFiles(packages)])
    files.add(path)
  for (const name of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']) {
    if (lexists(`/${name}`)) files.add(`/${name}`)
  }
  return withParents(files)
}

/** All paths in and below `directory`, absolute; nothing when it is not there. */
export function loadTree(directory: string): string[] {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return [directory, ...entries.map((entry) => join(entry.parentPath, entry.name))]
}

/** `files` and every directory above them, except the root. */
export function withParents(files: Iterable<string>): ReadonlySet<string> {
  const all = new Set(files)
  for (const file of [...all]) {
    for (let parent = dirname(file); parent !== '/' && !all.has(parent); parent = dirname(parent))
      all.add(parent)
  }
  return all
}

const realDirectories = new Map<string, string>()

/** `path` with its directory's links resolved: packages still say /bin where that is a link to /usr/bin. */
function realDirectory(path: string): string {
  const directory = dirname(path)
  let real = realDirectories.get(directory)
  if (real === undefined) {
    real = existsSync(directory) ? realpathSync(directory) : directory
    realDirectories.set(directory, real)
  }
  return join(real, basename(path))
}

function lexists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Where the link `path` ends, or undefined for what is no link or ends nowhere. */
function linkEnd(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && existsSync(path)
    ? realpathSync(path)
    : undefined
}

/** The links of update-alternatives (awk, cc, pager…) that end at one of `files`, with its records of them. */
function alternativeLinks(files: ReadonlySet<string>): string[] {
  const records = '/var/lib/dpkg/alternatives'
  const links: string[] = []
  for (const name of existsSync(records) ? readdirSync(records) : []) {
    const choice = `/etc/alternatives/${name}`
    const end = linkEnd(choice)
    if (end === undefined || !files.has(end)) continue
    links.push(choice, join(records, name))
    // The second line of a record is the link that programs use.
    const link = realDirectory(readFileSync(join(records, name), 'utf8').split('\n')[1] ?? '')
    if (lexists(link) && readlinkSync(link) === choice) links.push(link)
  }
  return links
}

/** The links to libraries among `files` that ldconfig made and no package lists. */
function libraryLinks(files: ReadonlySet<string>): string[] {
  const libraries = new Set([...files].filter((file) => /\.so(\.|$)/.test(file)))
  return [...new Set([...libraries].map(dirname))]
    .flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)))
    .filter((path) => {
      const end = /\.so(\.|$)/.test(path) ? linkEnd(path) : undefined
      return end !== undefined && libraries.has(end)
    })
}

/** dpkg's own files about `packages`: without them apt-get cannot work in the image. */
function dpkgFiles(packages: ReadonlySet<Package>): string[] {
  const directory = '/var/lib/dpkg/info'
  const names = new Set([...packages].flatMap((one) => [one.name, one.qualifiedName]))
  return readdirSync(directory)
    .filter((file) => names.has(file.slice(0, file.lastIndexOf('.'))) || file === 'format')
    .map((file) => join(directory, file))
}

/** dpkg's status file, reduced to `packages`. */
export function loadStatus(packages: ReadonlySet<Package>): string {
  const names = new Set([...packages].map((one) => one.name))
  return readFileSync('/var/lib/dpkg/status', 'utf8')
    .split('\n\n')
    .filter((block) => names.has(/^Package: (\S+)/m.exec(block)?.[1] ?? ''))
    .map((block) => `${block.trim()}\n\n`)
    .join('')
}
