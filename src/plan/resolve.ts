import path from 'node:path'
import { parseDurationMs } from '../lib/units.ts'
import type { Stop, WeightedRequest } from '../model/plan.ts'
import type {
  HttpRequest,
  PrepareStep,
  Readiness,
  Target,
  TargetSource,
  Verification,
} from '../model/target.ts'
import type { YamlDocument } from './document.ts'
import type { Sweep } from './expand.ts'
import { type Fault, type Path, renderPath } from './faults.ts'
import { nameOption, type Overrides, type OverrideValues } from './overrides.ts'
import {
  DEFAULTS,
  MIN_CPUS,
  type RequestParts,
  type ScenarioParts,
  type TargetParts,
  UNLIMITED,
} from './schema.ts'

/** What resolving needs to see of the disk. */
export interface Disk {
  readonly kindOf: (file: string) => 'file' | 'folder' | undefined
  /** The file's text, or why it cannot be had. */
  readonly read: (file: string) => { readonly text: string } | { readonly reason: string }
}

/** A place in a YAML file, with what resolving there needs. */
export interface Site {
  readonly document: YamlDocument
  /** Absolute folder of the file, against which paths resolve. */
  readonly folder: string
  /** Where in the file the thing stands. */
  readonly at: Path
  readonly disk: Disk
  readonly faults: Fault[]
}

// The quota is enforced in whole milliseconds at least (kernel/sched/core.c: min_cfs_quota_period).
const MIN_QUOTA_US = 1000

/** Turns what is valid of a target into the model's target; absent, with faults, when the source or the name is missing. */
export function resolveTarget(
  parts: TargetParts,
  site: Site,
  defaultName: string | undefined,
): Target | undefined {
  const isUrl = parts.url !== undefined
  const source = resolveSource(parts, site)
  const port = isUrl ? portOf(parts.url) : parts.port
  const { ready = {}, prepare = [], verify = [] } = parts
  if (isUrl && typeof ready === 'object' && ready.command !== undefined) {
    report(site, ['ready', 'command'], 'is not allowed with url: there is no container to run it in')
  }
  const target = {
    env: resolveTexts(parts.env, site, ['env']),
    ...(parts.command === undefined ? {} : { command: resolveWords(parts.command, site, ['command']) }),
    capabilities: parts.capabilities ?? [],
    ready: resolveReadiness(ready, site),
    prepare: prepare.map((step, index): PrepareStep => {
      const at = ['prepare', index]
      if (step.command !== undefined) {
        if (isUrl)
          report(site, [...at, 'command'], 'is not allowed with url: there is no container to run it in')
        return { kind: 'command', command: resolveWords(step.command, site, [...at, 'command']) }
      }
      const request = resolveRequest({ ...step, path: step.path ?? '/' }, site, at)
      return { kind: 'request', request, repeat: step.repeat ?? DEFAULTS.repeat }
    }),
    verify: verify.map((check, index): Verification => {
      const { expect = {} } = check
      return {
        request: resolveRequest(check, site, ['verify', index]),
        ...(expect.status === undefined ? {} : { status: expect.status }),
        ...(expect.body === undefined ? {} : { body: expect.body }),
        ...('json' in expect ? { json: expect.json } : {}),
      }
    }),
  }
  const name = parts.name ?? defaultName
  return source === undefined || port === undefined || name === undefined
    ? undefined
    : { name, source, port, ...target }
}

function resolveSource(parts: TargetParts, site: Site): TargetSource | undefined {
  if (parts.url !== undefined) return { kind: 'url', url: new URL(parts.url).origin }
  if (parts.image !== undefined) return { kind: 'image', image: parts.image }
  if (parts.build === undefined) return undefined
  const detailed = typeof parts.build === 'object'
  const build = typeof parts.build === 'object' ? parts.build : { context: parts.build }
  const contextPath = detailed ? ['build', 'context'] : ['build']
  const context = path.resolve(site.folder, build.context)
  if (site.disk.kindOf(context) !== 'folder') {
    report(site, contextPath, `must be a folder that exists, not ${JSON.stringify(build.context)}`)
    return undefined
  }
  const dockerfile = path.resolve(context, build.dockerfile ?? 'Dockerfile')
  if (site.disk.kindOf(dockerfile) !== 'file') {
    if (build.dockerfile === undefined) {
      report(
        site,
        contextPath,
        `must be a folder with a Dockerfile; ${JSON.stringify(build.context)} has none`,
      )
    } else {
      report(
        site,
        ['build', 'dockerfile'],
        `must be a file that exists in the context, not ${JSON.stringify(build.dockerfile)}`,
      )
    }
    return undefined
  }
  return { kind: 'build', context, dockerfile, args: resolveTexts(build.args, site, ['build', 'args']) }
}

function portOf(url: string | undefined): number | undefined {
  if (url === undefined) return undefined
  const { port, protocol } = new URL(url)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function resolveReadiness(ready: NonNullable<TargetParts['ready']>, site: Site): Readiness {
  const parts = typeof ready === 'string' ? { path: ready } : ready
  const timeoutMs = parts.timeout ?? parseDurationMs(DEFAULTS.readyTimeout)
  if (parts.path !== undefined) return { kind: 'http', path: parts.path, timeoutMs }
  if (parts.command === undefined) return { kind: 'tcp', timeoutMs }
  return { kind: 'command', command: resolveWords(parts.command, site, ['ready', 'command']), timeoutMs }
}

function resolveRequest(parts: RequestParts, site: Site, at: Path): HttpRequest {
  const headers = resolveTexts(parts.headers, site, [...at, 'headers'])
  const request = { method: parts.method ?? DEFAULTS.method, path: parts.path }
  if ('json' in parts) {
    const typed = Object.keys(headers).some((key) => key.toLowerCase() === 'content-type')
    return {
      ...request,
      headers: typed ? headers : { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(parts.json),
    }
  }
  const body = parts.body ?? readBody(parts['body-file'], site, [...at, 'body-file'])
  return { ...request, headers, ...(body === undefined ? {} : { body }) }
}

function readBody(file: string | undefined, site: Site, at: Path): string | undefined {
  if (file === undefined) return undefined
  const found = site.disk.read(path.resolve(site.folder, file))
  if ('text' in found) return found.text
  report(site, at, `must be a text file, not ${JSON.stringify(file)}: ${found.reason}`)
  return undefined
}

type Scalar = string | number | boolean

function resolveTexts(
  values: Readonly<Record<string, Scalar>> | undefined,
  site: Site,
  at: Path,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([key, value]) => [key, resolveText(value, site, [...at, key])]),
  )
}

function resolveWords(values: readonly Scalar[], site: Site, at: Path): readonly string[] {
  return values.map((value, index) => resolveText(value, site, [...at, index]))
}

function resolveText(value: Scalar, site: Site, at: Path): string {
  if (typeof value === 'string') return value
  // YAML reads a version 1.10 as the number 1.1; what was written is what was meant.
  return site.document.textOf([...site.at, ...at]) ?? String(value)
}

/** Turns what is valid of a scenario into a sweep over its targets; the faults tell whether it may be used. */
export function resolveScenario(
  parts: ScenarioParts,
  site: Site,
  given: {
    readonly name: string
    /** As the user named it. */
    readonly file: string
    readonly targets: readonly Target[]
    readonly overrides: OverrideValues
    readonly nameOf?: (key: keyof Overrides) => string
    /** Cores of the machine that measures; absent when it is another one. */
    readonly cores: number | undefined
  },
): Sweep {
  const { overrides, targets, nameOf = nameOption } = given
  const { load = {}, limits = {} } = parts
  const override = (key: keyof Overrides, message: string): void => {
    site.faults.push({ place: nameOf(key), message })
  }

  checkUrlTargets()
  const cpus = asList(overrides.cpus ?? limits.cpus ?? UNLIMITED)
  const periodMs = limits.period ?? parseDurationMs(DEFAULTS.period)
  cpus.forEach((value, index) => {
    const message = value === UNLIMITED ? undefined : describeCpus(value, periodMs, given.cores)
    if (message === undefined) return
    if (overrides.cpus !== undefined) override('cpus', message)
    else report(site, ['limits', 'cpus', ...(Array.isArray(limits.cpus) ? [index] : [])], message)
  })
  const connections = asList(overrides.connections ?? load.connections ?? DEFAULTS.connections)
  const stop = resolveStop(load, overrides)
  if (stop.kind === 'requests' && stop.count < Math.max(...connections)) {
    const message = `must be at least the connections (${Math.max(...connections)}), not ${stop.count}`
    if (overrides.requests !== undefined) override('requests', message)
    else if (overrides.connections !== undefined) {
      override('connections', `must be at most load.requests of ${site.document.file} (${stop.count})`)
    } else report(site, ['load', 'requests'], message)
  }

  return {
    scenario: given.name,
    file: given.file,
    targets,
    engines: asList(overrides.engines ?? parts.engine ?? DEFAULTS.engine),
    requests: resolveRequests(parts.requests ?? [{ path: '/' }], site),
    connections,
    stop,
    warmupMs: overrides.warmupMs ?? load.warmup ?? parseDurationMs(DEFAULTS.warmup),
    connection: load.connection ?? DEFAULTS.connection,
    timeoutMs: load.timeout ?? parseDurationMs(DEFAULTS.timeout),
    memories: asList(overrides.memory ?? limits.memory ?? UNLIMITED).map(limitOf),
    cpus: cpus.map(limitOf),
    periodUs: Math.round(periodMs * 1000),
    runs: overrides.runs ?? parts.runs ?? DEFAULTS.runs,
    coldStarts: overrides.coldStarts ?? parts['cold-starts'] ?? DEFAULTS.coldStarts,
  }

  function checkUrlTargets(): void {
    const url = targets.find((target) => target.source.kind === 'url')
    if (url === undefined) return
    const why = `is not allowed: target ${url.name} is a url, which has no`
    if (parts.limits !== undefined) report(site, ['limits'], `${why} container to limit`)
    if (overrides.cpus !== undefined) override('cpus', `${why} container to limit`)
    if (overrides.memory !== undefined) override('memory', `${why} container to limit`)
    if (overrides.coldStarts !== undefined) {
      if (overrides.coldStarts > 0) override('coldStarts', `${why} container to start`)
    } else if ((parts['cold-starts'] ?? 0) > 0) report(site, ['cold-starts'], `${why} container to start`)
  }
}

function resolveStop(load: NonNullable<ScenarioParts['load']>, overrides: OverrideValues): Stop {
  if (overrides.requests !== undefined) return { kind: 'requests', count: overrides.requests }
  if (overrides.durationMs !== undefined) return { kind: 'duration', durationMs: overrides.durationMs }
  if (load.requests !== undefined) return { kind: 'requests', count: load.requests }
  return { kind: 'duration', durationMs: load.duration ?? parseDurationMs(DEFAULTS.duration) }
}

/** Why a quota cannot be had on the machine or with the period, if it cannot. */
function describeCpus(cpus: number, periodMs: number, cores: number | undefined): string | undefined {
  if (cores !== undefined && cpus > cores) {
    return `must be from ${MIN_CPUS} to ${cores}, the cores of this machine, or ${UNLIMITED}, not ${cpus}`
  }
  const periodUs = Math.round(periodMs * 1000)
  // A thousandth of a microsecond absorbs what binary fractions add: 0.07 x 100000.
  if (Math.round(cpus * periodUs * 1000) / 1000 >= MIN_QUOTA_US) return undefined
  const enoughMs = Math.ceil(Math.round((MIN_QUOTA_US / cpus) * 1000) / 1e6)
  return `must be at least ${Math.ceil((MIN_QUOTA_US / periodUs) * 1000) / 1000} with limits.period ${periodMs}ms, not ${cpus}: the kernel's least quota is 1ms a period; a period of ${enoughMs}ms would do`
}

function resolveRequests(
  parts: NonNullable<ScenarioParts['requests']>,
  site: Site,
): readonly [WeightedRequest, ...WeightedRequest[]] {
  const [first, ...others] = parts.map((part, index): WeightedRequest => {
    const request = resolveRequest(part, site, ['requests', index])
    return {
      ...request,
      name: part.name ?? `${request.method} ${request.path}`,
      weight: part.weight ?? DEFAULTS.weight,
      ...(part.status === undefined ? {} : { status: asList(part.status) }),
    }
  })
  if (first === undefined) throw new Error('the schema lets no empty list of requests through')
  const requests = [first, ...others] as const
  requests.forEach(({ name }, index) => {
    const earlier = requests.findIndex((other) => other.name === name)
    if (earlier === index) return
    const at: Path = ['requests', index, ...(parts[index]?.name === undefined ? [] : ['name'])]
    report(site, at, `needs a name of its own: requests[${earlier}] is called ${JSON.stringify(name)} too`)
  })
  return requests
}

/** Adds a fault at a path below the site. */
export function report(site: Site, below: Path, message: string): void {
  const at = [...site.at, ...below]
  const { file, lineOf } = site.document
  site.faults.push({ place: file, line: lineOf(at), message: `${renderPath(at)} ${message}`.trim() })
}

function asList<T extends string | number>(value: T | readonly T[]): readonly T[] {
  return typeof value === 'object' ? value : [value]
}

function limitOf(value: number | typeof UNLIMITED): number | undefined {
  return value === UNLIMITED ? undefined : value
}
