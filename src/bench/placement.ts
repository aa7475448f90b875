import type { Placement } from '../model/results.ts'

/** The machine's CPUs as far as pinning is concerned. */
export interface CpuTopology {
  /** Online CPU numbers, ascending. */
  readonly cpus: readonly number[]
  /** For each CPU the numbers of the hardware threads that share its core, itself included. */
  readonly siblings: Readonly<Record<number, readonly number[]>>
}

/**
 * Gives the target as many CPUs as its quota needs and the generator the others, none of them a hyperthread
 * of a target's core where that can be had. Where a quota leaves the generator no CPU nothing is pinned.
 * A target without a quota gets half of the CPUs.
 */
export function placeSides(topology: CpuTopology, cpus: number | undefined): Placement {
  const all = byCore(topology)
  const wanted = cpus === undefined ? Math.floor(all.length / 2) : Math.ceil(cpus)
  if (wanted < 1 || wanted >= all.length) return { targetCpus: [], generatorCpus: [] }
  const targetCpus = all.slice(0, wanted)
  const rest = all.slice(targetCpus.length)
  const sharing = new Set(targetCpus.flatMap((cpu) => topology.siblings[cpu] ?? [cpu]))
  const apart = rest.filter((cpu) => !sharing.has(cpu))
  return { targetCpus, generatorCpus: apart.length > 0 ? apart : rest }
}

/** CPUs ordered so that the threads of a core stand together. */
function byCore(topology: CpuTopology): readonly number[] {
  const first = (cpu: number): number => Math.min(...(topology.siblings[cpu] ?? [cpu]))
  return [...topology.cpus].sort((a, b) => first(a) - first(b) || a - b)
}

/** Parses the kernel's CPU lists, e.g. `0-3,8`. */
export function parseCpuList(text: string): readonly number[] {
  return text
    .trim()
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    })
}
