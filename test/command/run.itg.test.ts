import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Results } from '../../src/model/results.ts'
import { summarizeCase } from '../../src/stats/summary.ts'
import { judgeRun } from '../../src/stats/validity.ts'
import { listCommands, listOurContainers, readResults, runCli, startCli } from '../helpers/cli.ts'

const HELLO = join(import.meta.dirname, '../../targets/hello')

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-test-'))
})

afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
  expect(await listOurContainers()).toEqual([])
})

/** Writes a scenario on the hello target; `target` and `rest` are YAML. */
function writeScenario(rest: string, target = ''): string {
  const text = [
    'target:',
    '  name: hello',
    `  build: ${HELLO}`,
    '  port: 8080',
    ...target.split('\n').map((line) => `  ${line}`),
    rest,
  ]
  writeFileSync(join(folder, 'hello.yml'), text.join('\n'))
  return 'hello.yml'
}

const QUICK = ['--duration', '2s', '--warmup', '500ms', '--runs', '1', '--cold-starts', '1']
const READY = 'ready: /healthz'

function summaryOf(results: Results, index: number) {
  const benchCase = results.plan.cases[index]
  const result = results.cases[index]
  if (benchCase === undefined || result === undefined) throw new Error(`there is no case ${index}`)
  return summarizeCase(benchCase, result, results.images[0])
}

describe('bench-action run', () => {
  it('measures a service under quotas, and its runs prove themselves', async () => {
    const scenario = writeScenario('limits: { cpus: [0.1, 0.5], memory: 128MiB }', READY)
    const args = ['run', scenario, '--duration', '3s', '--warmup', '1s', '--runs', '2', '--cold-starts', '2']
    const { exitCode, stdout, stderr } = await runCli(args, folder)
    expect(stderr).toMatch(/Case 2 of 2: hello\/hello\/autocannon\/c16\/cpus-0\.[15]\/mem-128MiB/)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('| vCPU limit |')

    const results = readResults(folder)
    expect(results.finishedAt).toBeDefined()
    expect(results.images).toMatchObject([{ target: 'hello', id: expect.stringMatching(/^sha256:/) }])
    for (const [index, quota] of [0.1, 0.5].entries()) {
      const { metrics, state } = summaryOf(results, index)
      expect(state).toEqual({ kind: 'measured' })
      expect(metrics.get('throughput')?.value).toBeGreaterThan(100)
      expect(metrics.get('cpu_time_per_request')?.value).toBeGreaterThan(1)
      expect(metrics.get('memory_peak')?.value).toBeLessThanOrEqual(128 * 1024 * 1024)
      expect(metrics.get('cold_start_p99')?.value).toBeGreaterThan(1000)
      const benchCase = results.plan.cases[index]
      const runs = results.cases[index]?.runs ?? []
      expect(benchCase?.limits.cpus).toBe(quota)
      for (const run of runs.filter(({ discarded }) => discarded === undefined)) {
        expect(run.path).toBe('netns')
        expect(run.load.failures).toEqual({ status: 0, timeout: 0, connect: 0, reset: 0, lost: 0, other: 0 })
        expect(run.usage?.periods).toBeGreaterThan(20)
        if (benchCase === undefined) continue
        const judgement = judgeRun(run, benchCase)
        expect(judgement.littleRatio).toBeGreaterThan(0.8)
        expect(judgement.littleRatio).toBeLessThan(1.2)
        // The quota holds whatever the host does; that it is used up needs a host that lets it.
        expect(judgement.cpuUsedRatio).toBeLessThan(1.02)
        if ((judgement.throttledRatio ?? 0) > 0.98) expect(judgement.cpuUsedRatio).toBeGreaterThan(0.97)
      }
    }
    // 5 times the CPU, about 5 times the throughput: the quotas are real.
    const [low, high] = [0, 1].map((index) => summaryOf(results, index).metrics.get('throughput')?.value ?? 0)
    expect((high ?? 0) / (low ?? 1)).toBeGreaterThan(2.5)

    const report = readFileSync(join(folder, 'out/report.md'), 'utf8')
    const rebuilt = await runCli(['report', 'out/results.json'], folder)
    expect(rebuilt.stdout).toBe(report)
  })

  it('shows why a target does not start, with the tail of its log, and measures the others', async () => {
    writeScenario('limits: { cpus: 0.5 }', READY)
    const broken = [
      'target:',
      '  name: broken',
      `  build: ${HELLO}`,
      '  port: 8080',
      '  env: { FAIL_START: 1 }',
      `  ${READY}`,
    ]
    writeFileSync(join(folder, 'broken.yml'), [...broken, 'limits: { cpus: 0.5 }'].join('\n'))
    const { exitCode, stdout } = await runCli(['run', 'broken.yml', 'hello.yml', ...QUICK], folder)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('1 of 2 cases measured, 1 failed.')
    expect(stdout).toMatch(/failed at ready: the target exited with code 1 before it was ready\n {4}\S/)
  })

  it('shows what a failed build printed last, and leaves no container of it', async () => {
    const marker = `boom-${process.pid}`
    mkdirSync(join(folder, 'app'))
    writeFileSync(
      join(folder, 'app/Dockerfile'),
      `FROM node:24-bookworm-slim\nRUN echo ${marker} && exit 7\n`,
    )
    writeFileSync(join(folder, 'app.yml'), 'target: { build: app, port: 8080 }')
    const { exitCode, stdout } = await runCli(['run', 'app.yml'], folder)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('failed at build: docker build failed: exit code')
    expect(stdout).toContain(`    | ${marker}`)
    expect(await listCommands()).not.toContain(marker)
  })

  it('gives up on a target that never gets ready', async () => {
    const scenario = writeScenario(
      'limits: { cpus: 0.5 }',
      'env: { NEVER_READY: 1 }\nready: { path: /healthz, timeout: 2s }',
    )
    const { exitCode, stdout } = await runCli(['run', scenario, ...QUICK], folder)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('the target was not ready within 2 s (a 2xx answer at /healthz)')
  })

  it('does not measure a target that answers wrongly', async () => {
    const scenario = writeScenario(
      'limits: { cpus: 0.5 }',
      `${READY}\nverify: [{ path: /, expect: { body: goodbye } }]`,
    )
    const { exitCode, stdout } = await runCli(['run', scenario, ...QUICK], folder)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('GET / answers "hello\\n", which does not contain "goodbye"')
    expect(readResults(folder).cases[0]?.runs).toEqual([])
  })

  it('drops all capabilities but those that a target names, and hints at that', async () => {
    const server = "process.setuid(1000); require('http').createServer((q, a) => a.end('ok')).listen(8080)"
    const yaml = (capabilities: string) =>
      `target: { image: 'node:24-bookworm-slim', port: 8080, command: [node, -e, ${JSON.stringify(server)}], capabilities: ${capabilities} }`
    writeFileSync(join(folder, 'node.yml'), yaml('[]'))
    const without = await runCli(['run', 'node.yml', ...QUICK], folder)
    expect(without.exitCode).toBe(1)
    expect(without.stdout).toContain('EPERM')
    expect(without.stdout).toContain('those that it needs can be named: see `capabilities` of targets')
    writeFileSync(join(folder, 'node.yml'), yaml('[SETUID]'))
    expect((await runCli(['run', 'node.yml', ...QUICK], folder)).exitCode).toBe(0)
  })

  it('says that a target was killed for want of memory', async () => {
    const scenario = writeScenario(
      'requests: [{ path: /alloc?mb=8 }]\nlimits: { cpus: 0.5, memory: 64MiB }',
      READY,
    )
    const { exitCode, stdout } = await runCli(['run', scenario, ...QUICK], folder)
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/the target was killed: it needed more memory than its limit/)
  })

  it('shows no number for a run with more than 1 % errors', async () => {
    const scenario = writeScenario('limits: { cpus: 0.5 }', `${READY}\nenv: { FAIL_EVERY: 50 }`)
    const { exitCode, stdout } = await runCli(['run', scenario, ...QUICK], folder)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('0 of 1 case measured, 1 invalid.')
    expect(stdout).toMatch(/0\.5 vCPU: invalid: 2\.0 % of \d+ requests failed \(status \d+ x 503\)/)
    const row = stdout.split('\n').find((line) => line.startsWith('| 0.5'))
    expect(row?.split('|').map((cell) => cell.trim())).toEqual([
      '',
      '0.5',
      'invalid',
      ...Array(10).fill('–'),
      '',
    ])
    const [run] = readResults(folder).cases[0]?.runs ?? []
    expect((run?.load.failures.status ?? 0) / (run?.load.sent ?? 1)).toBeCloseTo(0.02, 3)
  })

  it('counts failures of less than 1 % beside the numbers', async () => {
    const scenario = writeScenario('limits: { cpus: 0.5 }', `${READY}\nenv: { FAIL_EVERY: 1000 }`)
    const { exitCode, stdout } = await runCli(['run', scenario, ...QUICK], folder)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/warning: 0\.5 vCPU: \d+ of \d+ requests failed \(status \d+ x 503\)/)
  })

  it('stops everything at Ctrl-C, keeps what was measured, and says so at the next start', async () => {
    const scenario = writeScenario('limits: { cpus: [0.3, 0.5] }', READY)
    const { child, outcome } = startCli(['run', scenario, ...QUICK.slice(2), '--duration', '4s'], folder)
    await until(() => readdirSync(join(folder, 'out')).length > 0 && readResults(folder).cases.length === 1)
    await until(async () => (await listOurContainers()).length === 1)
    child.kill('SIGINT')
    expect((await outcome).exitCode).toBe(130)
    expect(await listOurContainers()).toEqual([])
    expect(readResults(folder).finishedAt).toBeUndefined()

    const next = await runCli(['run', scenario, ...QUICK, '--cpus', '0.5'], folder)
    expect(next.stderr).toMatch(
      /the last run was interrupted after 1 of 2 cases; what it measured is kept: bench-action report out\/interrupted-/,
    )
    const kept = readdirSync(join(folder, 'out')).find((name) => name.startsWith('interrupted-'))
    const report = await runCli(['report', `out/${kept}`], folder)
    expect(report.stdout).toContain('1 of 2 cases measured, interrupted after 1.')
  })

  it('leaves to clean what SIGKILL left, but not what a living run has', async () => {
    const scenario = writeScenario('limits: { cpus: 0.5 }', READY)
    const killed = startCli(['run', scenario, ...QUICK, '--out', 'killed'], folder)
    await until(async () => (await listOurContainers()).length === 1)
    killed.child.kill('SIGKILL')
    await killed.outcome
    const [orphan] = await listOurContainers()
    const living = startCli(['run', scenario, ...QUICK.slice(2), '--duration', '5s'], folder)
    await until(async () => (await listOurContainers()).length === 2)

    const cleaned = await runCli(['clean'], folder)
    expect(cleaned.stdout).toContain(`removed container ${orphan}`)
    expect(cleaned.stdout).toMatch(/kept \d+ of a run that still goes on/)
    expect((await living.outcome).exitCode).toBe(0)
    expect((await runCli(['clean'], folder)).stdout).not.toContain('removed')
  })

  it('measures something that runs already, without Docker and without limits', async () => {
    const server = http.createServer((_, response) => setTimeout(() => response.end('hello'), 5))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    writeFileSync(
      join(folder, 'url.yml'),
      `target: { url: 'http://127.0.0.1:${port}' }\nload: { connections: 4 }`,
    )
    process.env.DOCKER_HOST = 'unix:///nonexistent.sock'
    try {
      const { exitCode, stdout } = await runCli(
        ['run', 'url.yml', '--requests', '400', '--warmup', '0s', '--runs', '1'],
        folder,
      )
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/\| none +\|/)
    } finally {
      delete process.env.DOCKER_HOST
      server.close()
    }
    const [run] = readResults(folder).cases[0]?.runs ?? []
    expect(run?.path).toBe('url')
    expect(run?.usage).toBeUndefined()
    expect(run?.load.latency.sumUs).toBeGreaterThanOrEqual((run?.load.ok ?? 0) * 5000)
  })

  it('names file, line, value and what is allowed, of all faults together', async () => {
    writeFileSync(
      join(folder, 'bad.yml'),
      `target: { build: ${HELLO}, port: 99999 }\nload: { conections: 4, duration: 5 }\nlimits: { cpus: 0 }\n`,
    )
    const { exitCode, stderr } = await runCli(['run', 'bad.yml'], folder)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('bad.yml:1: target.port must be')
    expect(stderr).toContain('bad.yml:2: unknown key load.conections; did you mean connections?')
    expect(stderr).toContain('bad.yml:2: load.duration must be')
    expect(stderr).toContain('bad.yml:3: limits.cpus must be')
    expect(stderr).not.toContain('    at ')
  })

  it('refuses an output folder that cannot be written before it measures', async () => {
    const scenario = writeScenario('limits: { cpus: 0.5 }', READY)
    mkdirSync(join(folder, 'taken/report.md'), { recursive: true })
    const { exitCode, stderr } = await runCli(['run', scenario, ...QUICK, '--out', 'taken'], folder)
    expect(exitCode).toBe(2)
    expect(stderr).toBe('--out taken: taken/report.md is a folder\n')
  })

  it('measures on and cleans up when nobody reads its progress any more', async () => {
    const scenario = writeScenario('limits: { cpus: 0.5 }', READY)
    const { child, outcome } = startCli(['run', scenario, ...QUICK], folder)
    child.stderr?.destroy()
    expect((await outcome).exitCode).toBe(0)
    expect(readResults(folder).finishedAt).toBeDefined()
  })

  it('says which Docker does not answer', async () => {
    const scenario = writeScenario('limits: { cpus: 0.5 }', READY)
    process.env.DOCKER_HOST = 'unix:///nonexistent.sock'
    try {
      const { exitCode, stderr } = await runCli(['run', scenario], folder)
      expect(exitCode).toBe(2)
      expect(stderr).toContain('Docker does not answer at unix:///nonexistent.sock')
    } finally {
      delete process.env.DOCKER_HOST
    }
  })
})

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    try {
      if (await condition()) return
    } catch {
      // What is waited for may not be there yet.
    }
    await sleep(100)
  }
  throw new Error('waited 60 s in vain')
}
