/**
 * Bundles the entries into `dist/`, with the licences of what is in them. `--check` writes nothing and fails when
 * `dist/` is not what the sources make.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'

const DIST = 'dist'

interface Bundle {
  readonly name: string
  readonly content: string
}

/**
 * What dockerode loads for ways that we do not go: Docker over SSH, which `connectDocker` refuses, and building by
 * BuildKit sessions, which the docker command does. A third of the bundle, and of the time to load it.
 */
const UNUSED = /^(ssh2|@grpc\/grpc-js|@grpc\/proto-loader|protobufjs)$/

const withoutUnused: Plugin = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: UNUSED }, ({ path }) => ({ path, namespace: 'unused' }))
    onLoad({ filter: UNUSED, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

const result = await build({
  entryPoints: { cli: 'src/cli.ts', 'autocannon-worker': 'src/engine/autocannon-worker.ts' },
  outdir: DIST,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  // Node's own way to know where a script is, instead of import.meta.url, which CommonJS has not.
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  plugins: [withoutUnused],
  logLevel: 'warning',
})

const bundles: readonly Bundle[] = [
  ...result.outputFiles.map((file) => ({ name: file.path.split('/').at(-1) ?? '', content: file.text })),
  { name: 'licenses.txt', content: await collectLicenses(result.metafile) },
  // The repository is `type: module`; what is here is CommonJS.
  { name: 'package.json', content: '{ "type": "commonjs" }\n' },
]

if (process.argv.includes('--check')) await check(bundles)
else await write(bundles)

async function write(files: readonly Bundle[]): Promise<void> {
  await rm(DIST, { recursive: true, force: true })
  await mkdir(DIST)
  for (const { name, content } of files) await writeFile(join(DIST, name), content)
  for (const { name, content } of files)
    console.log(`${join(DIST, name)}  ${Math.round(content.length / 1000)} kB`)
}

async function check(files: readonly Bundle[]): Promise<void> {
  const present = existsSync(DIST) ? await readdir(DIST) : []
  const names = files.map(({ name }) => name)
  const stale = present.filter((name) => !names.includes(name))
  for (const { name, content } of files) {
    const found = present.includes(name) ? await readFile(join(DIST, name), 'utf8') : undefined
    if (found !== content) stale.push(name)
  }
  if (stale.length === 0) return
  console.error(`dist/ is not what the sources make (${stale.join(', ')}): run npm run build and commit it`)
  process.exitCode = 1
}

/** The licence text of every package that has a file in a bundle. */
async function collectLicenses(metafile: Metafile): Promise<string> {
  const folders = new Set(
    Object.keys(metafile.inputs).flatMap(
      (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
    ),
  )
  const texts = await Promise.all([...folders].sort().map(licenseOf))
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

async function licenseOf(folder: string): Promise<string> {
  const manifest: { name: string; version: string; license?: string } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  )
  const file = (await readdir(folder)).find((name) => /^(licen[cs]e|copying)/i.test(name))
  const text =
    file === undefined ? 'The package holds no licence file.' : await readFile(join(folder, file), 'utf8')
  return `${manifest.name} ${manifest.version} (${manifest.license ?? 'no licence named'})\n\n${text.trim()}\n`
}
