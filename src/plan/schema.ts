import * as z from 'zod'
import { UserError } from '../lib/error.ts'
import { findNearest } from '../lib/nearest.ts'
import {
  DURATION_FORM,
  DURATION_PATTERN,
  formatDuration,
  formatSize,
  parseDurationMs,
  parseSizeBytes,
  SIZE_FORM,
  SIZE_PATTERN,
} from '../lib/units.ts'
import { ENGINE_NAMES } from '../model/plan.ts'
import { CAPABILITIES } from '../model/target.ts'
import { type Path, renderChoice, renderValue } from './faults.ts'

/** What a scenario or target that says nothing gets, as a user would write it. */
export const DEFAULTS = {
  engine: 'autocannon',
  method: 'GET',
  weight: 1,
  connections: 16,
  duration: '5s',
  warmup: '2s',
  connection: 'keep-alive',
  timeout: '10s',
  period: '100ms',
  runs: 3,
  coldStarts: 5,
  readyTimeout: '60s',
  repeat: 1,
} as const

/** The value of `cpus` and `memory` that sets no limit. */
export const UNLIMITED = 'unlimited'

/** Least share of a core, in cores. */
export const MIN_CPUS = 0.01

// Docker refuses less (linuxMinMemory in moby's daemon_unix.go).
const MIN_MEMORY_BYTES = 6 * 2 ** 20

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

// Load generators that users know and this version does not drive.
const LATER_ENGINES = ['vegeta', 'k6', 'drill', 'ab', 'siege', 'wrk', 'oha', 'ghz']

const NAME_FORM = 'a name of a-z, 0-9, ".", "_" and "-" that starts with a letter or digit'
const NAME_PATTERN = /^[a-z0-9][a-z0-9._-]*$/

type ErrorOf = (issue: { readonly input?: unknown }) => string

/** The message of a value that is not what it must be. */
function must(allowed: string): ErrorOf {
  return ({ input }) =>
    input === undefined ? `is required: ${allowed}` : `must be ${allowed}, not ${renderValue(input)}`
}

/** A mapping that knows its keys; `later` has the reasons against keys that users may expect, `moved` the right place of others. */
function mapping<S extends z.ZodRawShape>(
  shape: S,
  later: Readonly<Record<string, string>> = {},
  moved: Readonly<Record<string, string>> = {},
) {
  const keys = Object.keys(shape)
  const error = must(`a mapping with the keys ${keys.join(', ')}`)
  return z.strictObject(shape, {
    // A line for each unknown key, in the order of `keys`; flattenIssue takes them apart.
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key: string) => describeUnknown(key, keys, later, moved)).join('\n')
        : error(issue),
  })
}

function describeUnknown(
  key: string,
  allowed: readonly string[],
  later: Readonly<Record<string, string>>,
  moved: Readonly<Record<string, string>>,
): string {
  if (Object.hasOwn(later, key)) return `is not supported: ${later[key]}`
  const nearest = Object.hasOwn(moved, key) ? moved[key] : findNearest(key, allowed)
  return nearest === undefined ? `; allowed: ${allowed.join(', ')}` : `; did you mean ${nearest}?`
}

/** Lets a rule apply when a part is wrong too, so that all faults show at once; the value may be of any type. */
const ALWAYS = { when: () => true }

/** A rule on which keys stand together. */
function keysRule(
  check: (has: (key: string) => boolean, fault: (message: string, key?: string) => void) => void,
): [(value: unknown, context: z.core.$RefinementCtx<unknown>) => void, { when: () => boolean }] {
  return [
    (value, context) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return
      check(
        (key) => Object.hasOwn(value, key),
        (message, key) => {
          context.addIssue({ code: 'custom', path: key === undefined ? [] : [key], message })
        },
      )
    },
    ALWAYS,
  ]
}

/** A fault for each pair of keys that exclude one another, at the later key. */
function exclude(...keys: string[]) {
  return keysRule((has, fault) => {
    const present = keys.filter(has)
    if (present.length > 1) fault(`excludes ${present.slice(0, -1).join(', ')}; give one`, present.at(-1))
  })
}

/** JSON Schema's way of saying that at most one of these keys may stand. */
function excludeInJson(...keys: string[]): { allOf: unknown[] } {
  const pairs = keys.flatMap((key, index) => keys.slice(index + 1).map((other) => [key, other]))
  return { allOf: pairs.map((required) => ({ not: { required } })) }
}

function integer(min: number, max?: number) {
  const error = must(max === undefined ? `an integer >= ${min}` : `an integer from ${min} to ${max}`)
  const atLeast = z.int({ error }).min(min, { error })
  return max === undefined ? atLeast : atLeast.max(max, { error })
}

function duration(minMs: number, maxMs: number, options: { readonly fractions?: boolean } = {}) {
  const error = must(DURATION_FORM)
  const range = `a time from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`
  const outside = must(options.fractions === true ? range : `${range}, in whole milliseconds`)
  return z
    .string({ error })
    .regex(new RegExp(DURATION_PATTERN), { error })
    .transform((text, context) => {
      const ms = parseInto(text, parseDurationMs, context)
      if (ms < minMs || ms > maxMs || (options.fractions !== true && !Number.isInteger(ms))) {
        context.addIssue({ code: 'custom', message: outside({ input: text }) })
      }
      return ms
    })
}

function parseInto(
  text: string,
  parse: (text: string) => number,
  context: z.core.$RefinementCtx<string>,
): number {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
}

function oneOrMany<T extends z.ZodType>(item: T, allowed: string) {
  const list = z.array(item).min(1, { error: must(`${allowed}, or a list of such`) })
  return z.union([item, list.superRefine(faultDuplicates, ALWAYS)], {
    error: must(`${allowed}, or a list of such`),
  })
}

function faultDuplicates(values: readonly unknown[], context: z.core.$RefinementCtx<readonly unknown[]>) {
  if (!Array.isArray(values)) return
  values.forEach((value, index) => {
    const first = values.indexOf(value)
    if (first >= 0 && first < index) {
      context.addIssue({ code: 'custom', path: [index], message: `repeats the value of [${first}]` })
    }
  })
}

const name = z.string({ error: must(NAME_FORM) }).regex(NAME_PATTERN, { error: must(NAME_FORM) })

const scalar = z
  .union([z.string(), z.number(), z.boolean()], { error: must('text, a number, true or false') })
  .refine((value) => !String(value).includes('\0'), { error: 'must not hold a zero byte' })

const fileName = z.string({ error: must('a path') }).min(1, { error: must('a path') })

const COMMAND_FORM = 'a list of words such as [node, server.js]'
const commandList = z
  .array(scalar, {
    error: (issue) =>
      typeof issue.input === 'string'
        ? `must be ${COMMAND_FORM}, not text: no shell splits it; for a shell write [sh, -c, ${JSON.stringify(issue.input.slice(0, 60))}]`
        : must(COMMAND_FORM)(issue),
  })
  .min(1, { error: must(COMMAND_FORM) })

const PATH_FORM = 'a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters'
const urlPath = z
  .string({ error: must(PATH_FORM) })
  .regex(/^\/(?!\/)[!"$-~]*$/, { error: must(PATH_FORM) })
  .meta({ examples: ['/', '/items?page=2'] })

const ENGINE_HEADERS = ['connection', 'content-length', 'transfer-encoding', 'host']
const headers = z
  .record(
    z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'is not a header name: letters, digits and "-"' }),
    scalar.refine((value) => !/[\r\n]/.test(String(value)), { error: 'must be one line' }),
    { error: must('a mapping of header names to values') },
  )
  .superRefine((values, context) => {
    if (typeof values !== 'object' || values === null) return
    const keys = Object.keys(values)
    keys.forEach((key, index) => {
      const lower = key.toLowerCase()
      const message = ENGINE_HEADERS.includes(lower)
        ? 'is set by the engine; load.connection chooses keep-alive or per-request'
        : keys.findIndex((other) => other.toLowerCase() === lower) < index
          ? 'stands twice, in other letter case'
          : undefined
      if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message })
    })
  }, ALWAYS)
  .optional()
  .meta({ description: 'Headers to send.', examples: [{ accept: 'application/json' }] })

const requestShape = {
  method: z
    .enum(METHODS, { error: must(renderChoice(METHODS)) })
    .optional()
    .meta({ description: 'HTTP method.', default: DEFAULTS.method }),
  path: urlPath.meta({ description: 'Path and query, starting with `/`.' }),
  headers,
  body: z
    .string({ error: must('text; json: sends any value as JSON') })
    .optional()
    .meta({ description: 'Body to send, as it is.' }),
  json: jsonValue().meta({
    description: 'Body to send, as JSON; sets `content-type: application/json` unless a header does.',
    examples: [{ name: 'Ada' }],
  }),
  'body-file': fileName
    .optional()
    .meta({ description: 'File (UTF-8) whose content is the body.', examples: ['./body.json'] }),
}

const BODY_KEYS = ['body', 'json', 'body-file']

/** Any YAML value that JSON can say; `.inf` and `.nan` it cannot. */
function jsonValue() {
  return z.unknown().refine(isJson, { error: 'must be a value that JSON has: no .inf or .nan' }).optional()
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(isJson)
}

const ARGS_FORM = 'a mapping of names to values'

const buildKeys = mapping({
  context: fileName.meta({ description: 'Folder that is sent to the builder.' }),
  dockerfile: fileName.optional().meta({
    description: 'Dockerfile, relative to the context, as in a compose file; `Dockerfile` when absent.',
  }),
  args: z
    .record(z.string().regex(/^[^=\s]+$/, { error: 'is not a name: no spaces, no "="' }), scalar, {
      error: must(ARGS_FORM),
    })
    .optional()
    .meta({ description: 'Build arguments.', examples: [{ NODE_VERSION: '24' }] }),
})

const readyKeys = mapping({
  path: urlPath.optional().meta({ description: 'Ready when a GET of this path is answered with 200-299.' }),
  tcp: z
    .literal(true, { error: must('true') })
    .optional()
    .meta({ description: 'Ready when the port accepts a connection.' }),
  command: commandList
    .optional()
    .meta({ description: 'Ready when this command exits with 0 inside the container.' }),
  timeout: duration(100, 3_600_000).optional().meta({
    description: 'How long to wait before giving up (100ms to 1h).',
    default: DEFAULTS.readyTimeout,
  }),
})
  .superRefine(...exclude('path', 'tcp', 'command'))
  .meta(excludeInJson('path', 'tcp', 'command'))

const prepareStep = mapping({
  ...requestShape,
  path: requestShape.path.optional().meta({ description: 'Path of a request to send.' }),
  repeat: integer(1).optional().meta({
    description: 'How often to send it; `{i}` in path and body counts from 1.',
    default: DEFAULTS.repeat,
  }),
  command: commandList
    .optional()
    .meta({ description: 'Command to run inside the container, instead of a request.' }),
})
  .superRefine(...exclude(...BODY_KEYS))
  .superRefine(
    ...keysRule((has, fault) => {
      const others = ['method', 'path', 'headers', ...BODY_KEYS, 'repeat'].filter(has)
      if (has('command') && others.length > 0)
        fault(`excludes ${others.join(', ')}; a step is a command or a request`, 'command')
      if (!has('command') && !has('path')) fault('needs path (a request) or command')
    }),
  )
  .meta({ ...excludeInJson(...BODY_KEYS), oneOf: [{ required: ['path'] }, { required: ['command'] }] })

const verification = mapping({
  ...requestShape,
  expect: mapping({
    status: integer(200, 599)
      .optional()
      .meta({ description: 'Status of the answer; 200-299 when absent.', examples: [200] }),
    body: z
      .string({ error: must('text') })
      .min(1, { error: must('text') })
      .optional()
      .meta({ description: 'Text that the body contains.' }),
    json: jsonValue().meta({
      description: 'JSON that the body contains: mappings may have more keys, all else is equal.',
      examples: [{ status: 'ok' }],
    }),
  })
    .optional()
    .meta({ description: 'What the answer must be.' }),
})
  .superRefine(...exclude(...BODY_KEYS))
  .meta(excludeInJson(...BODY_KEYS))

const URL_FORM = 'an origin such as http://127.0.0.1:8080 (http or https, no path; requests have the paths)'

/** Keys that only a container has. */
const CONTAINER_KEYS = ['port', 'env', 'command', 'capabilities']

const LATER_TARGET = {
  compose: 'this version runs a single container; give build, image or url',
  service: 'this version runs a single container; give build, image or url',
  protocol: 'this version speaks HTTP/1.1 only',
}

const capability = z.enum(CAPABILITIES, { error: must(`one of ${CAPABILITIES.join(', ')}`) })

/** `target.yml`, and a target that stands inside a scenario. */
export const targetSchema = mapping(
  {
    name: name
      .optional()
      .meta({ description: "Name in ids and reports; the folder's, or the scenario's for one inside it." }),
    build: z
      .union([fileName, buildKeys], { error: must('a folder, or a mapping with context, dockerfile, args') })
      .optional()
      .meta({
        description: 'Folder with a Dockerfile to build, or what to build in detail.',
        examples: ['.'],
      }),
    image: z
      .string({ error: must('an image such as nginx:1.29') })
      .regex(/^[a-zA-Z0-9][\w.:/@-]*$/, { error: must('an image such as nginx:1.29') })
      .optional()
      .meta({ description: 'Image to run.', examples: ['nginx:1.29'] }),
    url: z
      .string({ error: must(URL_FORM) })
      .regex(/^https?:\/\//, { error: must(URL_FORM) })
      .refine(isOrigin, { error: must(URL_FORM) })
      .optional()
      .meta({
        description:
          'Something that runs already: it has no limits and no cold starts, and the network counts.',
        examples: ['http://127.0.0.1:8080'],
      }),
    port: integer(1, 65535).optional().meta({
      description: 'Port that the service listens on inside its container; required unless `url`.',
    }),
    env: z
      .record(z.string().regex(/^[^=\s]+$/, { error: 'is not a name: no spaces, no "="' }), scalar, {
        error: must(ARGS_FORM),
      })
      .optional()
      .meta({ description: 'Environment of the container, each value as it is written.' }),
    command: commandList
      .optional()
      .meta({ description: "Replaces the image's CMD.", examples: [['node', 'server.js']] }),
    capabilities: z
      .array(capability, { error: must(`a list of ${CAPABILITIES.join(', ')}`) })
      .superRefine(faultDuplicates, ALWAYS)
      .optional()
      .meta({
        description:
          'Linux capabilities that the container keeps; all others are dropped. Images that start as root and give it up need some.',
        examples: [['CHOWN', 'SETGID', 'SETUID']],
      }),
    ready: z
      .union([urlPath, readyKeys], {
        error: must('a path such as /healthz, or a mapping with path, tcp or command, and timeout'),
      })
      .optional()
      .meta({
        description:
          'When the service is ready: a path, or more; when the port accepts connections if absent.',
        examples: ['/healthz'],
      }),
    prepare: z
      .array(prepareStep, { error: must('a list of requests and commands') })
      .optional()
      .meta({ description: 'Steps that fill the service before load, in order, once per container.' }),
    verify: z
      .array(verification, { error: must('a list of requests with what to expect') })
      .optional()
      .meta({
        description: 'Requests checked once before load; a service that answers wrongly is not measured.',
      }),
  },
  LATER_TARGET,
)
  .superRefine(
    ...keysRule((has, fault) => {
      const sources = ['build', 'image', 'url'].filter(has)
      if (sources.length === 0) fault('needs one of build, image or url')
      if (sources.length > 1) fault(`excludes ${sources.slice(0, -1).join(', ')}; give one`, sources.at(-1))
      if (has('url')) {
        for (const key of CONTAINER_KEYS.filter(has))
          fault('is not allowed with url, which runs already', key)
      } else if (sources.length > 0 && !has('port')) {
        fault('is required: the port that the service listens on, 1 to 65535', 'port')
      }
    }),
  )
  .meta({
    title: 'bench-action target',
    description: 'A service under test: how it is had, reached, made ready, filled and checked.',
    oneOf: [
      { required: ['build', 'port'] },
      { required: ['image', 'port'] },
      { required: ['url'], not: { anyOf: CONTAINER_KEYS.map((key) => ({ required: [key] })) } },
    ],
  })

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, pathname, search, hash } = new URL(text)
  return username + password + search + hash === '' && pathname === '/'
}

const request = mapping({
  name: z
    .string({ error: must('text') })
    .regex(/^[^\p{Cc}]{1,100}$/u, { error: must('one line of 1 to 100 characters') })
    .optional()
    .meta({ description: 'Name in reports; method and path when absent.' }),
  ...requestShape,
  weight: integer(1, 1000)
    .optional()
    .meta({ description: 'How often it is sent, in relation to the others.', default: DEFAULTS.weight }),
  status: oneOrMany(integer(200, 599), 'an integer from 200 to 599')
    .optional()
    .meta({ description: 'Statuses that count as success; 200-299 when absent.', examples: [[200, 304]] }),
})
  .superRefine(...exclude(...BODY_KEYS))
  .meta(excludeInJson(...BODY_KEYS))

/** Values of `connections`, one or a list. */
export const connectionsSchema = oneOrMany(integer(1), 'an integer >= 1')

/** Values of `duration`; 100ms to 1h, into milliseconds. */
export const durationSchema = duration(100, 3_600_000)

/** Count of answered requests that ends a run. */
export const requestCountSchema = integer(1)

/** Values of `warmup`; 0s to 1h, into milliseconds. */
export const warmupSchema = duration(0, 3_600_000)

const CPUS_FORM = `a number >= ${MIN_CPUS} (cores) or ${UNLIMITED}`
const cpus = z.union(
  [
    z.number({ error: must(CPUS_FORM) }).min(MIN_CPUS, { error: must(CPUS_FORM) }),
    z.literal(UNLIMITED, { error: must(CPUS_FORM) }),
  ],
  { error: must(CPUS_FORM) },
)

/** Values of `cpus`, one or a list, in cores. */
export const cpusSchema = oneOrMany(cpus, CPUS_FORM)

const MEMORY_FORM = `${SIZE_FORM}, or ${UNLIMITED}`
const memory = z.union(
  [
    z.literal(UNLIMITED, { error: must(MEMORY_FORM) }),
    z
      .string({ error: must(MEMORY_FORM) })
      .regex(new RegExp(SIZE_PATTERN), { error: must(MEMORY_FORM) })
      .transform((text, context) => {
        const bytes = parseInto(text, parseSizeBytes, context)
        if (bytes < MIN_MEMORY_BYTES) {
          const allowed = `at least ${formatSize(MIN_MEMORY_BYTES)}, Docker's minimum`
          context.addIssue({ code: 'custom', message: must(allowed)({ input: text }) })
        }
        return bytes
      }),
  ],
  { error: must(MEMORY_FORM) },
)

/** Values of `memory`, one or a list, into bytes. */
export const memorySchema = oneOrMany(memory, MEMORY_FORM)

/** Values of `runs`. */
export const runsSchema = integer(1)

/** Values of `cold-starts`. */
export const coldStartsSchema = integer(0)

const engineError: ErrorOf = (issue) => {
  const message = must(renderChoice(ENGINE_NAMES))(issue)
  return typeof issue.input === 'string' && LATER_ENGINES.includes(issue.input)
    ? `${message}, which this version does not support`
    : message
}

const engine = z.enum(ENGINE_NAMES, { error: engineError })

/** Values of `engine`, one or a list. */
export const engineSchema = z.union(
  [engine, z.array(engine).min(1, { error: engineError }).superRefine(faultDuplicates, ALWAYS)],
  { error: engineError },
)

const TARGET_FORM = 'a folder that holds target.yml, or a mapping with the keys of a target'
const targetEntry = z.union([fileName, targetSchema], { error: must(TARGET_FORM) })

const LATER_LOAD = {
  rate: 'autocannon is a closed model, in which a connection sends its next request when the last was answered, so that no rate can be held; give connections',
  script: "this version runs no engine's own scripts; give requests",
}

const LATER_SCENARIO = {
  script: LATER_LOAD.script,
  slo: 'this version knows no service level objectives',
  thresholds: 'this version has fixed thresholds',
  capacity: 'this version does not search for capacity',
  rate: LATER_LOAD.rate,
}

const MOVED_SCENARIO = {
  ...placeUnder('target', Object.keys(targetSchema.shape)),
  ...placeUnder('load', ['connections', 'duration', 'warmup', 'connection', 'timeout']),
  ...placeUnder('limits', ['cpus', 'memory', 'period']),
}

function placeUnder(parent: string, keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [key, `${parent}.${key}`]))
}

/** `scenarios/<name>.yml`. */
export const scenarioSchema = mapping(
  {
    name: name.optional().meta({ description: "Name in ids and reports; the file's name when absent." }),
    description: z
      .string({ error: must('text') })
      .optional()
      .meta({ description: 'What is measured and why, for readers.' }),
    target: targetEntry.optional().meta({
      description: 'Folder that holds `target.yml`, or a target itself.',
      examples: ['../targets/hello'],
    }),
    targets: z
      .array(targetEntry, { error: must(`a list; each ${TARGET_FORM}`) })
      .min(1, { error: must(`a list; each ${TARGET_FORM}`) })
      .optional()
      .meta({ description: 'Several targets to compare with one another, instead of `target`.' }),
    engine: engineSchema
      .optional()
      .meta({ description: 'Load generator, or a list to sweep.', default: DEFAULTS.engine }),
    requests: z
      .array(request, { error: must('a list of requests') })
      .min(1, { error: must('a list of requests') })
      .optional()
      .meta({ description: 'Requests to send, by weight.', default: [{ path: '/' }] }),
    load: mapping(
      {
        connections: connectionsSchema.optional().meta({
          description: 'Connections, each with one request at a time; or a list to sweep.',
          default: DEFAULTS.connections,
        }),
        duration: durationSchema.optional().meta({
          description: 'How long a run lasts (100ms to 1h).',
          default: DEFAULTS.duration,
        }),
        requests: requestCountSchema.optional().meta({
          description: 'How many answered requests end a run, instead of `duration`.',
          examples: [10_000],
        }),
        warmup: warmupSchema.optional().meta({
          description: 'Load before measuring, at full CPU (0s to 1h).',
          default: DEFAULTS.warmup,
        }),
        connection: z
          .enum(['keep-alive', 'per-request'], { error: must('keep-alive or per-request') })
          .optional()
          .meta({
            description: 'Whether connections are kept or opened anew for each request.',
            default: DEFAULTS.connection,
          }),
        timeout: duration(1, 3_600_000).optional().meta({
          description: 'A request unanswered for so long is a failure (1ms to 1h).',
          default: DEFAULTS.timeout,
        }),
      },
      LATER_LOAD,
    )
      .superRefine(...exclude('duration', 'requests'))
      .meta(excludeInJson('duration', 'requests'))
      .optional()
      .meta({ description: 'How much load, and for how long.' }),
    limits: mapping({
      cpus: cpusSchema.optional().meta({
        description: `CPU time in cores, ${MIN_CPUS} up to the cores of the machine; or a list to sweep.`,
        default: UNLIMITED,
        examples: [[0.25, 0.5, 1]],
      }),
      memory: memorySchema.optional().meta({
        description: 'Memory without swap, 6MiB or more (MB = 10^6, MiB = 2^20 bytes); or a list to sweep.',
        default: UNLIMITED,
        examples: ['512MB'],
      }),
      period: duration(1, 1000, { fractions: true }).optional().meta({
        description:
          'CFS period that the quota is given in (1ms to 1s); cpus x period is 1ms or more. It sets how long a throttled service stands still.',
        default: DEFAULTS.period,
      }),
    })
      .optional()
      .meta({ description: 'What the container may use; not for a `url` target.' }),
    runs: runsSchema
      .optional()
      .meta({ description: 'Runs of each case whose samples are reported.', default: DEFAULTS.runs }),
    'cold-starts': coldStartsSchema.optional().meta({
      description: 'Starts that are timed up to the first correct answer; 0 times none.',
      default: DEFAULTS.coldStarts,
    }),
  },
  LATER_SCENARIO,
  MOVED_SCENARIO,
)
  .superRefine(
    ...keysRule((has, fault) => {
      if (has('target') && has('targets')) fault('excludes target; give one', 'targets')
      if (!has('target') && !has('targets')) fault(`is required: ${TARGET_FORM}`, 'target')
    }),
  )
  .meta({
    title: 'bench-action scenario',
    description: 'The load on one or more targets, and the limits that they are measured under.',
    oneOf: [{ required: ['target'] }, { required: ['targets'] }],
  })

/** What is valid of a `target.yml`, as it is written. */
export type TargetParts = Partial<z.output<typeof targetSchema>>
/** What is valid of a scenario, as it is written. */
export type ScenarioParts = Partial<z.output<typeof scenarioSchema>>
/** A request as it is written in any of its places. */
export type RequestParts = Pick<
  z.output<typeof verification>,
  'method' | 'path' | 'headers' | 'body' | 'json' | 'body-file'
>

/** A fault of a value, at its path. */
export interface Issue {
  readonly path: Path
  /** The whole message, which names the path. */
  readonly describe: (path: string) => string
}

/** What is valid of `value`, key by key, and every fault; the parts are complete when there is none. */
export function validate<S extends z.ZodObject>(
  schema: S,
  value: unknown,
): { readonly parts: Partial<z.output<S>>; readonly issues: readonly Issue[] } {
  const whole = schema.safeParse(value)
  if (whole.success) return { parts: whole.data as Partial<z.output<S>>, issues: [] }
  const parts: Record<string, unknown> = {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, part] of Object.entries(schema.shape)) {
      if (!Object.hasOwn(value, key)) continue
      const parsed = z.safeParse(part, (value as Record<string, unknown>)[key])
      if (parsed.success) parts[key] = parsed.data
    }
  }
  return { parts: parts as Partial<z.output<S>>, issues: flattenIssues(whole.error.issues) }
}

/** A single value, or why it is none. */
export function validateValue<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { readonly value?: z.output<S>; readonly issues: readonly Issue[] } {
  const parsed = schema.safeParse(value)
  return parsed.success ? { value: parsed.data, issues: [] } : { issues: flattenIssues(parsed.error.issues) }
}

function flattenIssues(issues: readonly z.core.$ZodIssue[]): Issue[] {
  return issues.flatMap((issue) => flattenIssue(issue))
}

function flattenIssue(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    const lines = issue.message.split('\n')
    return issue.keys.map((key, index) => {
      const line = lines[index] ?? ''
      return {
        path: [...issue.path, key],
        describe: (path) => (line.startsWith(';') ? `unknown key ${path}${line}` : `${path} ${line}`),
      }
    })
  }
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
  if (issue.code === 'invalid_union') {
    const branch = chooseBranch(issue.errors)
    if (branch !== undefined) {
      return flattenIssues(branch).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    }
  }
  return [{ path: issue.path, describe: (path) => (path === '' ? message : `${path} ${message}`) }]
}

/** The branch of a union that the user meant: the one whose type the value has. */
function chooseBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  return branches.find((branch) => !branch.some(isMismatch))
}

function isMismatch(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false
  if (issue.code === 'invalid_union') return chooseBranch(issue.errors) === undefined
  return issue.code === 'invalid_type' || issue.code === 'invalid_value'
}
