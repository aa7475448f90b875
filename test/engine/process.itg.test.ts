import { ChildProcess } from 'node:child_process'
import { describe, expect, test, vi } from 'vitest'
import { type ProcessJob, runProcess } from '../../src/engine/process.ts'

function createJob(script: string, overrides: Partial<ProcessJob> = {}): ProcessJob {
  return {
    argv: [process.execPath, '--eval', script],
    name: 'generator',
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...overrides,
  }
}

describe('runProcess', () => {
  test('hands over exit code, output and the end of stderr', async () => {
    const script =
      'for (let i = 0; i < 50; i++) console.error("line", i); console.log("out"); process.exitCode = 3'
    const outcome = await runProcess(createJob(script))
    expect(outcome).toMatchObject({ exitCode: 3, stdout: 'out\n' })
    expect(outcome.stderrTail).toHaveLength(20)
    expect(outcome.stderrTail.at(-1)).toBe('line 49')
  })

  test('gives lines as they come, and the last one before it returns', async () => {
    const lines: string[] = []
    const onLine = (line: string): void => {
      lines.push(line)
    }
    const { stdout } = await runProcess(
      createJob('console.log("a\\nb"); process.stdout.write("c")', { onLine }),
    )
    expect(lines).toEqual(['a', 'b', 'c'])
    expect(stdout).toBe('')
  })

  test('a held stdin stays open until the process ends, another one ends with its text', async () => {
    const script = `
      let text = ''
      process.stdin.on('data', (chunk) => { text += chunk }).on('end', () => console.log('end of', text))
      setTimeout(() => { console.log('still', text); process.exit() }, 300)`
    const held = await runProcess(createJob(script, { input: { text: 'job', hold: true } }))
    expect(held.stdout).toBe('still job\n')
    const given = await runProcess(createJob(script, { input: { text: 'job', hold: false } }))
    expect(given.stdout).toContain('end of job')
  })

  test('a process that overruns its time is killed, also when it ignores SIGTERM', async () => {
    const script = 'process.on("SIGTERM", () => console.error("no")); setInterval(() => {}, 1000)'
    const running = runProcess(createJob(script, { timeoutMs: 1_000, forceKillAfterMs: 300 }))
    await expect(running).rejects.toThrow(/generator ran longer than 1 s and was killed\n {2}no/)
  })

  test('a process that cannot be signalled, as behind sudo, ends by the end of its stdin', async () => {
    const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(false)
    try {
      const abort = new AbortController()
      setTimeout(() => abort.abort(new Error('enough')), 300)
      const script = 'process.stdin.resume().on("end", () => process.exit(1)); setTimeout(() => {}, 20_000)'
      const input = { text: 'job\n', hold: true }
      const startedAt = performance.now()
      const running = runProcess(createJob(script, { input, signal: abort.signal }))
      await expect(running).rejects.toThrow('enough')
      expect(performance.now() - startedAt).toBeLessThan(5_000)
      expect(kill).toHaveBeenCalled()
    } finally {
      kill.mockRestore()
    }
  })

  test('an aborted process ends with the reason of the signal', async () => {
    const abort = new AbortController()
    const { signal } = abort
    setTimeout(() => abort.abort(new Error('enough')), 500)
    await expect(runProcess(createJob('setInterval(() => {}, 1000)', { signal }))).rejects.toThrow('enough')
    await expect(runProcess(createJob('', { signal }))).rejects.toThrow('enough')
  })

  test('too much output ends it', async () => {
    const script = 'setInterval(() => console.log("x".repeat(1000)), 1)'
    await expect(runProcess(createJob(script, { maxOutputBytes: 10_000 }))).rejects.toThrow(
      'wrote more than 10000 bytes',
    )
  })

  test('what a line handler throws ends it', async () => {
    const onLine = (line: string): void => {
      throw new Error(`bad line ${line}`)
    }
    const script = 'console.log("x"); setInterval(() => {}, 1000)'
    await expect(runProcess(createJob(script, { onLine }))).rejects.toThrow('bad line x')
  })

  test('a death by signal and a missing program are errors', async () => {
    const script = 'console.error("ouch"); process.kill(process.pid, "SIGKILL")'
    await expect(runProcess(createJob(script))).rejects.toThrow(/ended by SIGKILL\n {2}ouch/)
    const missing = createJob('', { argv: ['/no/such/program'] })
    await expect(runProcess(missing)).rejects.toThrow(/generator cannot be started: .*ENOENT/)
  })
})
