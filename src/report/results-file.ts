import * as z from 'zod'
import { messageOf, UserError } from '../lib/error.ts'
import { ENGINE_NAMES } from '../model/plan.ts'
import { FAILURE_KINDS, RESULTS_VERSION, type Results } from '../model/results.ts'
import { CAPABILITIES } from '../model/target.ts'
import { Histogram } from '../stats/histogram.ts'

const text = z.string()
const count = z.int().min(0)
const integer = z.int()
const texts = z.array(text).readonly()
const dictionary = z.record(text, text).readonly()

const httpRequest = { method: text, path: text, headers: dictionary, body: text.optional() }

const targetSchema = z.object({
  name: text,
  source: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('build'), context: text, dockerfile: text, args: dictionary }),
    z.object({ kind: z.literal('image'), image: text }),
    z.object({ kind: z.literal('url'), url: text }),
  ]),
  port: integer,
  env: dictionary,
  command: texts.optional(),
  capabilities: z.array(z.enum(CAPABILITIES)).readonly(),
  ready: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('http'), path: text, timeoutMs: integer }),
    z.object({ kind: z.literal('tcp'), timeoutMs: integer }),
    z.object({ kind: z.literal('command'), command: texts, timeoutMs: integer }),
  ]),
  prepare: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('request'), request: z.object(httpRequest), repeat: integer }),
        z.object({ kind: z.literal('command'), command: texts }),
      ]),
    )
    .readonly(),
  verify: z
    .array(
      z.object({
        request: z.object(httpRequest),
        status: integer.optional(),
        body: text.optional(),
        json: z.unknown().optional(),
      }),
    )
    .readonly(),
})

const requestSchema = z.object({
  ...httpRequest,
  name: text,
  weight: integer,
  status: z.array(integer).readonly().optional(),
})

const caseSchema = z.object({
  id: text,
  scenario: text,
  file: text.optional(),
  target: text,
  engine: z.enum(ENGINE_NAMES),
  requests: z.tuple([requestSchema], requestSchema).readonly(),
  load: z.object({
    model: z.literal('closed'),
    connections: integer,
    stop: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('duration'), durationMs: integer }),
      z.object({ kind: z.literal('requests'), count: integer }),
    ]),
    warmupMs: integer,
    connection: z.enum(['keep-alive', 'per-request']),
    timeoutMs: integer,
  }),
  limits: z.object({
    cpus: z.number().optional(),
    memoryBytes: integer.optional(),
    periodUs: integer,
  }),
  runs: integer,
  coldStarts: integer,
})

const latencySchema = z.object({
  count,
  source: z.enum(['samples', 'histogram', 'summary']),
  omission: z.enum(['not-corrected', 'intended-start', 'engine-altered']),
  resolutionUs: z.number(),
  sumUs: z.number(),
  sumSquaresUs: z.number(),
  histogram: text.describe('HDR histogram in microseconds, V2 compressed, base64; empty when count is 0'),
})

const loadSchema = z.object({
  engine: z.object({ name: z.enum(ENGINE_NAMES), version: text }),
  windowUs: z.number(),
  sent: count,
  ok: count,
  failures: z.record(z.enum(FAILURE_KINDS), count).readonly(),
  unanswered: count,
  completedOk: count,
  statuses: z.record(text, count).readonly(),
  bytesIn: count,
  bytesOut: count,
  connect: latencySchema,
  latency: latencySchema,
  requests: z.array(z.object({ name: text, sent: count, ok: count, latency: latencySchema })).readonly(),
  generator: z.object({ cpuUs: z.number(), cores: z.number() }),
})

const cpus = z.array(integer).readonly()

const runSchema = z.object({
  side: z.enum(['base', 'head']),
  epoch: integer,
  index: integer,
  startedAt: text,
  path: z.enum(['netns', 'bridge', 'url']),
  placement: z.object({ targetCpus: cpus, generatorCpus: cpus }),
  load: loadSchema,
  usage: z
    .object({
      wallUs: integer,
      cpuUs: integer,
      periods: integer,
      throttledPeriods: integer,
      throttledUs: integer,
      memoryPeakBytes: integer.optional(),
      oomKills: integer,
      timeline: z.array(z.object({ atUs: integer, cpuUs: integer, memoryBytes: integer })).readonly(),
    })
    .optional(),
  host: z.object({
    idleWaitMs: integer,
    idle: z.boolean(),
    foreignUs: integer,
    foreignOnTargetUs: integer.optional(),
    stealUs: integer,
    wallUs: integer,
  }),
  discarded: text.optional(),
})

const RESULTS_SCHEMA = z
  .object({
    version: z.literal(RESULTS_VERSION),
    tool: z.object({ name: z.literal('bench-action'), version: text }),
    startedAt: text,
    finishedAt: text.optional().describe('Absent when the measurement was interrupted'),
    revision: z.object({ sha: text, branch: text.optional(), dirty: z.boolean() }).optional(),
    environment: z.object({
      cpuModel: text,
      cores: integer,
      memoryBytes: integer,
      kernel: text,
      os: text,
      arch: text,
      cgroupVersion: z.union([z.literal(1), z.literal(2)]).optional(),
      docker: z.object({ version: text, storageDriver: text, cgroupDriver: text }).optional(),
      node: text,
      runnerImage: text.optional(),
    }),
    plan: z.object({
      seed: integer,
      targets: z.tuple([targetSchema], targetSchema).readonly(),
      cases: z.tuple([caseSchema], caseSchema).readonly(),
    }),
    images: z.array(z.object({ target: text, id: text, sizeBytes: integer })).readonly(),
    cases: z
      .array(
        z.object({
          id: text,
          coldStarts: z.array(z.object({ firstAnswerUs: integer, totalUs: integer })).readonly(),
          runs: z.array(runSchema).readonly(),
          failure: z
            .object({
              stage: z.enum(['build', 'start', 'ready', 'verify', 'prepare', 'load']),
              message: text,
              logTail: texts,
            })
            .optional(),
        }),
      )
      .readonly(),
  })
  .meta({ title: 'bench-action results', description: 'What bench-action measured, and nothing derived' })

/** The JSON Schema (draft-07) of `results.json`. */
export function buildResultsSchema(): object {
  return z.toJSONSchema(RESULTS_SCHEMA, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // zod bounds every integer; to a reader that is noise.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
}

/**
 * Parses `results.json`.
 * @param name the file's name, for messages
 * @throws UserError when it is not such a document, or one of another version
 */
export function parseResults(json: string, name: string): Results {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new UserError(`${name}: not JSON: ${messageOf(error)}`)
  }
  const version =
    typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (version !== RESULTS_VERSION) {
    throw new UserError(
      `${name}: version must be ${RESULTS_VERSION}, not ${JSON.stringify(version)}: is it a results.json of this bench-action?`,
    )
  }
  const parsed = RESULTS_SCHEMA.safeParse(value)
  if (parsed.success) {
    checkReferences(parsed.data, name)
    return parsed.data
  }
  const faults = parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${name}: ${issue.path.join('.')}: ${issue.message}`)
  throw new UserError(faults.join('\n'))
}

/** What no schema sees: ids that fit together, and histograms that can be read. */
function checkReferences(results: Results, name: string): void {
  const targets = new Set(results.plan.targets.map((target) => target.name))
  for (const { id, target } of results.plan.cases) {
    if (!targets.has(target))
      throw new UserError(`${name}: the case ${id} names the unknown target ${target}`)
  }
  const planned = new Set(results.plan.cases.map(({ id }) => id))
  const seen = new Set<string>()
  for (const { id, runs } of results.cases) {
    if (!planned.has(id)) throw new UserError(`${name}: the plan has no case ${id}`)
    if (seen.has(id)) throw new UserError(`${name}: the case ${id} is there twice`)
    seen.add(id)
    for (const { index, load } of runs) {
      const latencies = [load.latency, load.connect, ...load.requests.map(({ latency }) => latency)]
      if (!latencies.every(isReadable)) {
        throw new UserError(`${name}: run ${index} of ${id} has a histogram that cannot be read`)
      }
    }
  }
}

function isReadable({ count, histogram }: { readonly count: number; readonly histogram: string }): boolean {
  try {
    return Histogram.decode(histogram).count === count
  } catch {
    return false
  }
}

/** The text of `results.json`. */
export function renderResults(results: Results): string {
  return `${JSON.stringify(results, undefined, 2)}\n`
}
