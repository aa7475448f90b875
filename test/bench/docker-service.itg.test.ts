import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dockerServices } from '../../src/bench/docker-service.ts'
import { linuxHost } from '../../src/bench/host.ts'
import { awaitReady, prepareService } from '../../src/bench/probe.ts'
import { measureRun } from '../../src/bench/run.ts'
import type { Service } from '../../src/bench/service.ts'
import { connectDocker, type Docker } from '../../src/docker/docker.ts'
import { ensureImage } from '../../src/docker/image.ts'
import { detectNetnsAccess, type NetnsAccess } from '../../src/docker/netns.ts'
import { autocannonEngine } from '../../src/engine/autocannon.ts'
import { newSession } from '../../src/lib/session.ts'
import type { Case } from '../../src/model/plan.ts'
import type { Target } from '../../src/model/target.ts'
import { createFakeCase, createFakeTarget } from '../helpers/fake-lab.ts'

const inspectFile = promisify(execFile)
const signal = new AbortController().signal
const clock = { now: () => new Date(), elapsedMs: () => performance.now() }
const session = newSession()
const context = join(import.meta.dirname, '../../targets/hello')
const TARGET = createFakeTarget({
  name: 'hello',
  source: { kind: 'build', context, dockerfile: join(context, 'Dockerfile'), args: {} },
  port: 8080,
  env: { GREETING: 'a b "c"' },
  ready: { kind: 'http', path: '/healthz', timeoutMs: 30_000 },
})
const LIMITED = createFakeCase({ limits: { cpus: 0.25, memoryBytes: 100_000_000, periodUs: 50_000 } })

let docker: Docker
let image: string
let access: NetnsAccess

beforeAll(async () => {
  docker = await connectDocker()
  const record = await ensureImage(docker, TARGET, { session, signal, onLine: () => {} })
  if (record === undefined) throw new Error('a built target has an image')
  image = record.id
  access = await detectNetnsAccess()
})

afterAll(async () => {
  expect(await inspectAll()).toEqual([])
})

function start(benchCase: Case, netns: NetnsAccess = access, target: Target = TARGET): Promise<Service> {
  return dockerServices({ docker, host: linuxHost(), netns, session })(target, benchCase, image)
}

async function inspectAll(): Promise<readonly { readonly HostConfig: Record<string, unknown> }[]> {
  const { stdout } = await inspectFile('docker', [
    'ps',
    '--all',
    '--quiet',
    '--filter',
    `label=bench-action=${session}`,
  ])
  const ids = stdout.split('\n').filter((id) => id !== '')
  if (ids.length === 0) return []
  return JSON.parse((await inspectFile('docker', ['inspect', ...ids])).stdout)
}

describe('a service in a container', () => {
  it('is unprivileged, limited by period and quota, and publishes no port', async () => {
    await using _service = await start(LIMITED)
    const [container] = await inspectAll()
    expect(container?.HostConfig).toMatchObject({
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      PidsLimit: 4096,
      CpuPeriod: 50_000,
      CpuQuota: 12_500,
      NanoCpus: 0,
      CpusetCpus: '0',
      Memory: 100_000_000,
      MemorySwap: 100_000_000,
      PortBindings: {},
      NetworkMode: 'default',
    })
  })

  it('gets its environment as it is written', async () => {
    await using service = await start(LIMITED)
    expect(await service.exec(['node', '-p', 'process.env.GREETING'], { signal })).toEqual({
      exitCode: 0,
      output: 'a b "c"\r\n',
    })
  })

  it('has its quota lifted and lowered while it runs', async () => {
    await using service = await start(LIMITED)
    const quota = async () => (await inspectAll())[0]?.HostConfig.CpuQuota
    await service.setCpus(undefined)
    expect(await quota()).toBe(-1)
    await service.setCpus(0.25)
    expect(await quota()).toBe(12_500)
  })

  it('runs without a quota when it has none', async () => {
    await using service = await start(createFakeCase({ limits: { periodUs: 100_000 } }))
    await service.setCpus(undefined)
    expect((await inspectAll())[0]?.HostConfig).toMatchObject({ NanoCpus: 0, Memory: 0 })
    expect(service.readCounters()).toMatchObject({ throttledPeriods: 0, oomKills: 0 })
  })

  it('says when it was started, between being asked to and being ready', async () => {
    await using service = await start(LIMITED)
    const readyAtMs = await awaitReady(service, TARGET.ready, LIMITED.requests[0], signal)
    const { requestedAtMs, startedAtMs } = service.started ?? { requestedAtMs: 0, startedAtMs: 0 }
    expect(startedAtMs).toBeGreaterThan(requestedAtMs)
    // Node needs some tens of milliseconds of CPU to listen, and has a quarter of a core.
    expect(readyAtMs - startedAtMs).toBeGreaterThan(20)
  })

  it('is ready by a command inside it, and by its port', async () => {
    await using service = await start(LIMITED)
    const command = ['node', '-e', "fetch('http://127.0.0.1:8080/').then(r => process.exit(r.ok ? 0 : 1))"]
    await awaitReady(service, { kind: 'command', command, timeoutMs: 30_000 }, LIMITED.requests[0], signal)
    await awaitReady(service, { kind: 'tcp', timeoutMs: 1000 }, LIMITED.requests[0], signal)
  })

  it('does not wait for a readiness command that hangs', async () => {
    await using service = await start(LIMITED)
    const startedAt = performance.now()
    const command = ['node', '-e', 'setTimeout(() => {}, 60_000)']
    await expect(
      awaitReady(service, { kind: 'command', command, timeoutMs: 200 }, LIMITED.requests[0], signal),
    ).rejects.toThrow('last seen: a command that did not end')
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  it('is prepared by commands and requests', async () => {
    await using service = await start(LIMITED)
    await awaitReady(service, TARGET.ready, LIMITED.requests[0], signal)
    const request = { method: 'POST', path: '/echo', headers: {}, body: 'number {i}' }
    await prepareService(
      service,
      [
        { kind: 'command', command: ['node', '-e', '0'] },
        { kind: 'request', request, repeat: 3 },
      ],
      signal,
    )
  })

  it('is reached inside its network namespace, where that can be entered', async () => {
    expect(access, 'these tests need root or sudo').not.toBe('none')
    await using service = await start(LIMITED)
    expect(service.path).toBe('netns')
    expect(service.loadOrigin).toBe('http://127.0.0.1:8080')
    const run = await measureFew(service)
    expect(run.path).toBe('netns')
    expect(run.load.ok).toBe(run.load.sent)
  })

  it('is reached at its address over the bridge otherwise', async () => {
    await using service = await start(LIMITED, 'none')
    expect(service.path).toBe('bridge')
    expect(service.loadOrigin).toMatch(/^http:\/\/\d+\.\d+\.\d+\.\d+:8080$/)
    const run = await measureFew(service)
    expect(run.path).toBe('bridge')
    expect(run.load.ok).toBe(run.load.sent)
    expect(run.load.sent).toBeLessThan(30)
  })

  it('tells why it ended', async () => {
    await using service = await start(LIMITED, access, { ...TARGET, env: { FAIL_START: '1' } })
    await expect(awaitReady(service, TARGET.ready, LIMITED.requests[0], signal)).rejects.toThrow(
      'the target exited with code 1 before it was ready',
    )
    expect(await service.logTail()).toEqual(['FAIL_START is 1: refusing to start'])
    // The last counters stand, or none if it was gone before the first reading.
    expect(service.readCounters()?.oomKills ?? 0).toBe(0)
  })

  it('tells why it ended when it did so at once', async () => {
    await using service = await start(LIMITED, access, { ...TARGET, command: ['node', '--no-such-option'] })
    await expect(awaitReady(service, TARGET.ready, LIMITED.requests[0], signal)).rejects.toThrow(
      'the target exited with code 9 before it was ready',
    )
  })
})

/** A run of about ten requests on one connection. */
async function measureFew(service: Service) {
  await awaitReady(service, TARGET.ready, LIMITED.requests[0], signal)
  const few = createFakeCase({
    ...LIMITED,
    requests: [{ name: 'slow', method: 'GET', path: '/slow?ms=100', headers: {}, weight: 1 }],
    load: { ...LIMITED.load, connections: 1, stop: { kind: 'requests', count: 5 } },
  })
  return measureRun(service, autocannonEngine, linuxHost(), few, 1, clock, signal)
}
