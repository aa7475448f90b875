import os from 'node:os'
import { loadPlan } from '../plan/load.ts'
import type { Overrides } from '../plan/overrides.ts'
import type { Output } from '../sink/terminal.ts'

/**
 * Says what a run of these scenarios would measure.
 * @throws UserError with all faults of all files
 */
export function validate(files: readonly string[], overrides: Overrides, output: Output): void {
  const plan = loadPlan(files, overrides, { cores: os.availableParallelism(), cwd: process.cwd(), seed: 0 })
  const ids = plan.cases.map(({ id }) => `  ${id}`)
  output.write(`${plan.cases.length} ${plan.cases.length === 1 ? 'case' : 'cases'}:\n${ids.join('\n')}\n`)
}
