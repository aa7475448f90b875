#!/usr/bin/env node
import { globSync } from 'node:fs'
import { Command } from 'commander'
import { UserError } from './lib/error.ts'
import { VERSION } from './lib/version.ts'
import type { Overrides } from './plan/overrides.ts'

const streams = { out: process.stdout, log: process.stderr } as const
const EXIT = { ok: 0, noNumbers: 1, fault: 2 } as const

const program = new Command('bench-action')
  .description('Benchmarks containerised HTTP services under Docker CPU quotas.')
  .version(VERSION)
  .showHelpAfterError('(bench-action --help tells more)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.fault))

withOverrides(program.command('run'))
  .description('measure scenarios, print the report, write results.json and report.md')
  .option('-o, --out <folder>', 'where results.json and report.md go', 'out')
  .option('-v, --verbose', "show the image builder's output", false)
  .action(
    async (
      files: string[],
      { out, verbose, ...overrides }: Overrides & { out: string; verbose: boolean },
    ) => {
      const { run } = await import('./command/run.ts')
      const complete = await run(
        { files: scenarioFiles(files), overrides, out, verbose },
        streams,
        interruption(),
      )
      process.exitCode = complete ? EXIT.ok : EXIT.noNumbers
    },
  )

program
  .command('report')
  .description('rebuild the report from saved results')
  .argument('[results]', 'the results document', 'out/results.json')
  .option('-o, --out <file>', 'write it to a file instead of printing it')
  .action(async (file: string, { out }: { out?: string }) => {
    const { report } = await import('./command/report.ts')
    await report(file, out, streams.out)
  })

withOverrides(program.command('validate'))
  .description('check scenarios and list the cases that they would measure')
  .action(async (files: string[], overrides: Overrides) => {
    const { validate } = await import('./command/validate.ts')
    validate(scenarioFiles(files), overrides, streams.out)
  })

program
  .command('clean')
  .description('remove containers and temporary folders that a killed run left')
  .action(async () => {
    const { clean } = await import('./command/clean.ts')
    await clean(streams.out)
  })

/** The files that were named, or else the ones where they usually are. */
function scenarioFiles(named: readonly string[]): readonly string[] {
  return named.length > 0 ? named : globSync('scenarios/*.{yml,yaml}').sort()
}

/** The options that replace what scenarios say; each may be given as a list where the scenario may. */
function withOverrides(command: Command): Command {
  return command
    .argument('[scenarios...]', 'scenario files (default: all of scenarios/*.yml)')
    .option('--cpus <list>', 'CPU limits, e.g. 0.1,0.5')
    .option('--memory <list>', 'memory limits, e.g. 256MB')
    .option('--connections <list>', 'connections, e.g. 16,64')
    .option('--duration <time>', 'length of a run, e.g. 5s')
    .option('--requests <count>', 'requests of a run, instead of a duration')
    .option('--warmup <time>', 'load before measuring, e.g. 2s')
    .option('--runs <count>', 'runs per case')
    .option('--cold-starts <count>', 'starts to time per case; 0 for none')
    .option('--engine <list>', 'load generators')
    .option('--seed <number>', 'seed of the order of cases')
}

/**
 * One request to stop may come as several signals: npm passes on what the terminal sent us too, and coreutils' timeout
 * signals the child and then its group.
 */
const SAME_REQUEST_MS = 500

/** Aborts at the first Ctrl-C or SIGTERM, so that everything started is stopped; a later one ends us at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  let abortedAtMs: number | undefined
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ] as const) {
    process.on(signal, () => {
      if (abortedAtMs !== undefined) {
        if (performance.now() - abortedAtMs < SAME_REQUEST_MS) return
        process.exit(128 + number)
      }
      abortedAtMs = performance.now()
      process.exitCode = 128 + number
      streams.log.write(`\n${signal}: stopping what was started; once more ends at once\n`)
      controller.abort(new Interrupted(signal))
    })
  }
  return controller.signal
}

class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

async function main(): Promise<void> {
  // A reader that has gone (`| head`) is no reason to leave a container behind: what is measured is still written.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await program.parseAsync()
  } catch (error) {
    if (error instanceof UserError) {
      streams.log.write(`${error.message}\n`)
      process.exitCode = EXIT.fault
    } else if (!(error instanceof Interrupted)) {
      throw error
    }
  }
}

void main()
