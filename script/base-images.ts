/**
 * Provides the images that Dockerfiles are based on: `node script/base-images.ts [image…]`, by default those of all
 * bundled targets. An image that is neither here nor to be pulled (no registry can be reached) gets a local stand-in:
 * the files of this machine's own Debian packages and toolchains, under the official name, with a label that says so.
 * A real image is never replaced; remove a stand-in with `docker rmi` to have it made again.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { baseImages } from './dockerfile.ts'
import { type Contents, importImage } from './root-archive.ts'

/** Without a word from the registry after this time, there is none. */
const registryTimeoutMs = 20_000
/** A big image over a slow line. */
const pullTimeoutMs = 900_000

const certificates = '/etc/ssl/certs/ca-certificates.crt'
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** So that every stand-in is known, and downloads in a build trust what this machine trusts. */
const commonChanges = [
  'LABEL bench-action.stand-in=true',
  ...['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'CARGO_HTTP_CAINFO', 'PIP_CERT'].map(
    (name) => `ENV ${name}=${certificates}`,
  ),
]

/** What a stand-in consists of, how it is configured, and what to say about it. */
interface Recipe {
  readonly contents: Contents
  readonly changes: readonly string[]
  readonly madeFrom: string
}

/** Says what happens, on stderr. */
function say(text: string): void {
  console.error(`base-images: ${text}`)
}

/** What `command` prints, or undefined when it is not there or fails. */
function outputOf(command: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function isPresent(image: string): boolean {
  return spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore' }).status === 0
}

/**
 * Pulls `image`. Resolves to why there is nothing to pull from, or undefined when it was pulled.
 * Throws when the registry has the image and the download fails.
 */
async function pull(image: string): Promise<string | undefined> {
  const child = spawn('docker', ['pull', image], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let answered = false
  let timer = setTimeout(() => child.kill(), registryTimeoutMs)
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  child.stdout.on('data', (chunk) => {
    // Docker says this when it has the manifest: the rest is only a matter of time.
    if (answered || !String(chunk).includes('Pulling from')) return
    answered = true
    clearTimeout(timer)
    timer = setTimeout(() => child.kill(), pullTimeoutMs)
  })
  const [status] = await once(child, 'close')
  clearTimeout(timer)
  if (status === 0) return undefined
  if (answered) throw new Error(`the download of ${image} failed: ${said.trim() || 'it took too long'}`)
  return said.trim() || `no answer from the registry within ${registryTimeoutMs / 1000} s`
}

/** How to make a stand-in for `image`. Throws when nothing is known about it, or this machine lacks what it takes. */
function recipeFor(image: string, scratch: string): Recipe {
  const [name, tag = 'latest'] = image.split(':')
  if (/alpine|windows/.test(tag))
    throw new Error(`there is no stand-in for ${image}: only for images based on Debian`)
  switch (name) {
    case 'debian':
      return {
        contents: { packages: [], trees: [] },
        changes: [`ENV PATH=${path}`, 'CMD ["bash"]'],
        madeFrom: 'the minimal packages',
      }
    case 'rust':
      return rustRecipe()
    case 'golang':
      return goRecipe()
    case 'node':
      return nodeRecipe(/^\d+/.exec(tag)?.[0] ?? '24', scratch)
    default:
      throw new Error(`there is no stand-in for ${image}: only for debian, rust, golang and node`)
  }
}

function rustRecipe(): Recipe {
  installMissing(['gcc', 'libc6-dev'])
  // Debian's newest Rust for building browsers goes before the one its release froze.
  if (outputOf('cargo', '--version') === undefined)
    installFirst([
      ['cargo-web', 'rustc-web'],
      ['cargo', 'rustc'],
    ])
  const version = outputOf('rustc', '--version') ?? 'no rustc'
  const sysroot = outputOf('rustc', '--print', 'sysroot') ?? '/usr'
  const changes = [`ENV CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:${path}`, 'CMD ["bash"]']
  // The distribution's own Rust is packages, any other one a directory.
  const contents =
    sysroot === '/usr'
      ? { packages: ['gcc', 'libc6-dev', ...owners(['cargo', 'rustc'])], trees: [] }
      : {
          packages: ['gcc', 'libc6-dev'],
          trees: [{ from: sysroot, to: '/usr/local', exclude: ['share', 'etc', 'lib/rustlib/src'] }],
        }
  return { contents, changes, madeFrom: version }
}

function goRecipe(): Recipe {
  const root = outputOf('go', 'env', 'GOROOT')
  if (root === undefined) throw new Error('the stand-in for golang needs Go on this machine')
  return {
    contents: {
      packages: [],
      trees: [{ from: root, to: '/usr/local/go', exclude: ['api', 'doc', 'misc', 'test'] }],
    },
    changes: [
      `ENV GOPATH=/go GOTOOLCHAIN=local PATH=/go/bin:/usr/local/go/bin:${path}`,
      'WORKDIR /go',
      'CMD ["bash"]',
    ],
    madeFrom: outputOf('go', 'version') ?? 'Go',
  }
}

function nodeRecipe(major: string, scratch: string): Recipe {
  const build = `node-linux-${process.arch}`
  const modules = nodeModules(build, major, scratch)
  return {
    contents: {
      packages: ['libstdc++6'],
      trees: [
        {
          from: join(modules, build),
          to: '/usr/local',
          exclude: ['include', 'share', 'CHANGELOG.md', 'README.md', 'package.json'],
        },
        { from: join(modules, 'npm'), to: '/usr/local/lib/node_modules/npm', exclude: ['docs', 'man'] },
      ],
      links: {
        '/usr/local/bin/npm': '../lib/node_modules/npm/bin/npm-cli.js',
        '/usr/local/bin/npx': '../lib/node_modules/npm/bin/npx-cli.js',
      },
      user: { name: 'node', id: 1000 },
    },
    changes: [`ENV PATH=${path}`, 'CMD ["node"]'],
    madeFrom: `Node ${outputOf(join(modules, build, 'bin/node'), '--version')}`,
  }
}

/** A node_modules folder with the official Node `major` as the package `build`, and npm: bootstrap's own if it fits. */
function nodeModules(build: string, major: string, scratch: string): string {
  const own = resolve(import.meta.dirname, '../.tools/node_modules')
  if (outputOf(join(own, build, 'bin/node'), '--version')?.startsWith(`v${major}.`)) return own
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', '--prefix', scratch, ...options, `${build}@${major}`, 'npm@11'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return join(scratch, 'node_modules')
}

/** The packages that the programs `commands` belong to. */
function owners(commands: readonly string[]): string[] {
  return commands.map((command) => {
    const file = outputOf('readlink', '--canonicalize', outputOf('which', command) ?? '')
    const owner = outputOf('dpkg-query', '--search', file ?? '')?.split(':')[0]
    if (owner === undefined) throw new Error(`no package owns ${command}`)
    return owner
  })
}

function installMissing(packages: readonly string[]): void {
  const missing = packages.filter(
    (name) =>
      outputOf('dpkg-query', '--show', '--showformat', '$' + '{db:Status-Status}', name) !== 'installed',
  )
  if (missing.length > 0) install(missing)
}

/** Installs the first of `choices` that the distribution offers. */
function installFirst(choices: readonly (readonly string[])[]): void {
  runAsRoot('apt-get', ['update'])
  const offered = choices.find((names) =>
    names.every((name) => /Candidate: \d/.test(outputOf('apt-cache', 'policy', name) ?? '')),
  )
  if (offered === undefined)
    throw new Error(`this machine's distribution offers none of ${choices.flat().join(', ')}`)
  install(offered)
}

function install(packages: readonly string[]): void {
  say(`installing ${packages.join(' ')} on this machine, to copy them`)
  runAsRoot('apt-get', ['update'])
  runAsRoot('apt-get', ['install', '-y', '--no-install-recommends', ...packages])
}

function runAsRoot(command: string, args: readonly string[]): void {
  const argv = process.getuid?.() === 0 ? [command, ...args] : ['sudo', '-n', command, ...args]
  const [program = '', ...rest] = argv
  const { status, stderr } = spawnSync(program, rest, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (status !== 0)
    throw new Error(`${argv.join(' ')} failed: ${stderr.trim().split('\n').slice(-5).join('\n')}`)
}

/** Makes the stand-in for `image`. Throws where that is not possible. */
async function makeStandIn(image: string): Promise<void> {
  if (outputOf('dpkg', '--version') === undefined) {
    throw new Error(`a stand-in for ${image} can only be made on Debian or Ubuntu`)
  }
  const startMs = performance.now()
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'base-image-'))
  const { contents, changes, madeFrom } = recipeFor(image, scratch.path)
  await importImage(image, contents, [...commonChanges, ...changes])
  const system = /^PRETTY_NAME="?(.*?)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const megabytes = Number(outputOf('docker', 'image', 'inspect', '--format', '{{.Size}}', image)) / 1e6
  const seconds = (performance.now() - startMs) / 1000
  say(
    `${image} is now a local STAND-IN, not the official image: ${madeFrom} on this machine's ${system}, ` +
      `${megabytes.toFixed(0)} MB, ${seconds.toFixed(1)} s`,
  )
}

/** The images that the Dockerfiles of the bundled targets are based on. */
function bundledImages(): string[] {
  const targets = resolve(import.meta.dirname, '../targets')
  const files = globSync('*/Dockerfile', { cwd: targets })
  return files.flatMap((file) => baseImages(readFileSync(join(targets, file), 'utf8')))
}

async function main(images: readonly string[]): Promise<void> {
  const absent = [...new Set(images.length > 0 ? images : bundledImages())].filter(
    (image) => !isPresent(image),
  )
  // All at once, so that a registry that never answers is waited for once.
  const pulled = await Promise.all(absent.map(async (image) => ({ image, reason: await pull(image) })))
  for (const { image, reason } of pulled) {
    if (reason === undefined) {
      say(`pulled ${image}`)
      continue
    }
    say(`${image} cannot be pulled: ${reason}`)
    await makeStandIn(image)
  }
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
