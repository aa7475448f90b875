import { describe, expect, it } from 'vitest'
import { type Runner, runPlan } from '../../src/bench/runner.ts'
import { CommandError } from '../../src/lib/exec.ts'
import type { Plan } from '../../src/model/plan.ts'
import type { Results } from '../../src/model/results.ts'
import { createFakeCase, createFakeLab, createFakeTarget } from '../helpers/fake-lab.ts'

const PLAN: Plan = {
  seed: 1,
  targets: [createFakeTarget({ name: 'good' }), createFakeTarget({ name: 'unbuildable' })],
  cases: [
    createFakeCase({ id: 'a', target: 'good' }),
    createFakeCase({ id: 'b', target: 'unbuildable' }),
    createFakeCase({ id: 'c', target: 'good' }),
  ],
}

function createRunner(overrides: Partial<Runner> = {}): Runner & { readonly saved: Results[] } {
  const saved: Results[] = []
  return {
    saved,
    lab: createFakeLab({ origin: 'http://127.0.0.1:9', failStart: 'not today' }),
    ensureImage: async (target) => {
      if (target.name === 'unbuildable') throw new Error('exit code 1: no such file')
      return { target: target.name, id: 'sha256:1', sizeBytes: 1 }
    },
    save: async (results) => {
      saved.push(results)
    },
    describeOutcome: (result) => result.failure?.message ?? 'fine',
    version: '1.2.3',
    environment: {
      cpuModel: 'x',
      cores: 2,
      memoryBytes: 1,
      kernel: '6',
      os: 'Linux',
      arch: 'x64',
      node: '24',
    },
    revision: undefined,
    ...overrides,
  }
}

describe('running a plan', () => {
  it('saves after every case, and marks only the last document as finished', async () => {
    const runner = createRunner()
    await runPlan(PLAN, runner)
    expect(runner.saved.map(({ cases, finishedAt }) => [cases.length, finishedAt !== undefined])).toEqual([
      [0, false],
      [1, false],
      [2, false],
      [3, false],
      [3, true],
    ])
  })

  it('goes on with the other cases when an image cannot be built', async () => {
    const runner = createRunner()
    const results = await runPlan(PLAN, runner)
    expect(results.cases.map(({ id, failure }) => [id, failure?.stage, failure?.message])).toEqual([
      ['a', 'start', 'not today'],
      ['b', 'build', 'exit code 1: no such file'],
      ['c', 'start', 'not today'],
    ])
    expect(results.images).toHaveLength(1)
  })

  it('keeps what a failed builder printed last apart from the message', async () => {
    const runner = createRunner({
      ensureImage: async () => {
        throw new CommandError('docker build failed: exit code 1', ['Step 2/3', 'no such file'])
      },
    })
    const results = await runPlan(PLAN, runner)
    expect(results.cases[0]?.failure).toEqual({
      stage: 'build',
      message: 'docker build failed: exit code 1',
      logTail: ['Step 2/3', 'no such file'],
    })
  })

  it('loses nothing that was saved when it is interrupted', async () => {
    const controller = new AbortController()
    const reason = new Error('interrupted')
    const lab = createFakeLab({ origin: 'http://127.0.0.1:9', failStart: 'not today', controller })
    const saved: Results[] = []
    const runner = createRunner({
      lab,
      save: async (results) => {
        saved.push(results)
        if (results.cases.length === 2) controller.abort(reason)
      },
    })
    await expect(runPlan(PLAN, runner)).rejects.toBe(reason)
    expect(saved.at(-1)?.cases).toHaveLength(2)
    expect(saved.at(-1)?.finishedAt).toBeUndefined()
  })
})
