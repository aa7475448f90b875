import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Results } from '../../src/model/results.ts'
import { parseResults } from '../../src/report/results-file.ts'

/** The bundle that users run, not the sources. */
export const CLI = join(import.meta.dirname, '../../dist/cli.cjs')

export interface CliOutcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

const pids = new Set<number>()

/** Starts the command line and collects what it prints. */
export function startCli(
  args: readonly string[],
  cwd: string,
): { child: ChildProcess; outcome: Promise<CliOutcome> } {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) pids.add(child.pid)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const outcome = new Promise<CliOutcome>((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
  return { child, outcome }
}

/** Runs the command line to its end. */
export function runCli(args: readonly string[], cwd: string): Promise<CliOutcome> {
  return startCli(args, cwd).outcome
}

export function readResults(folder: string): Results {
  const file = join(folder, 'out/results.json')
  return parseResults(readFileSync(file, 'utf8'), file)
}

const run = promisify(execFile)

/** Names of the containers that the command lines started here have, or left; other runs may go on beside us. */
export async function listOurContainers(): Promise<readonly string[]> {
  const { stdout } = await run('docker', [
    'ps',
    '--all',
    '--filter',
    'label=bench-action',
    '--format',
    '{{.Names}}',
  ])
  return stdout.split('\n').filter((name) => pids.has(Number(name.split('-')[2])))
}

/** What the containers of this machine run or ran, as one text. */
export async function listCommands(): Promise<string> {
  return (await run('docker', ['ps', '--all', '--no-trunc', '--format', '{{.Command}}'])).stdout
}
