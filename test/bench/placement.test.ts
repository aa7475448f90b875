import { describe, expect, test } from 'vitest'
import { type CpuTopology, parseCpuList, placeSides } from '../../src/bench/placement.ts'

/** Each inner list is a core: the numbers of its hardware threads. */
function createTopology(...cores: readonly (readonly number[])[]): CpuTopology {
  return {
    cpus: cores.flat().sort((a, b) => a - b),
    siblings: Object.fromEntries(cores.flatMap((core) => core.map((cpu) => [cpu, core]))),
  }
}

const TWO = createTopology([0], [1])
const FOUR = createTopology([0], [1], [2], [3])
/** Threads of a core stand side by side, as on most virtual machines. */
const PAIRED = createTopology([0, 1], [2, 3])
/** Threads of a core are half the machine apart, as on most physical ones. */
const SPREAD = createTopology([0, 2], [1, 3])
const ONE_CORE = createTopology([0, 1])

describe('placeSides', () => {
  test.each([
    { name: 'a quota below a core takes one', topology: TWO, cpus: 0.05, target: [0], generator: [1] },
    { name: 'a whole core takes one', topology: TWO, cpus: 1, target: [0], generator: [1] },
    { name: 'a quota above a core takes two', topology: FOUR, cpus: 1.01, target: [0, 1], generator: [2, 3] },
    { name: 'the generator keeps at least one', topology: FOUR, cpus: 3, target: [0, 1, 2], generator: [3] },
    { name: 'a quota of the whole machine pins nothing', topology: TWO, cpus: 2, target: [], generator: [] },
    { name: 'a quota above it neither', topology: TWO, cpus: 1.5, target: [], generator: [] },
    {
      name: 'a machine of one CPU pins nothing',
      topology: createTopology([0]),
      cpus: 0.1,
      target: [],
      generator: [],
    },
    {
      name: 'no quota takes half',
      topology: FOUR,
      cpus: undefined,
      target: [0, 1],
      generator: [2, 3],
    },
    {
      name: 'no quota on one CPU pins nothing',
      topology: createTopology([0]),
      cpus: undefined,
      target: [],
      generator: [],
    },
    { name: 'the sibling stays idle', topology: PAIRED, cpus: 0.5, target: [0], generator: [2, 3] },
    { name: 'the sibling far away too', topology: SPREAD, cpus: 0.5, target: [0], generator: [1, 3] },
    { name: 'two CPUs are those of a core', topology: SPREAD, cpus: 2, target: [0, 2], generator: [1, 3] },
    { name: 'a sibling is better than nothing', topology: ONE_CORE, cpus: 1, target: [0], generator: [1] },
    {
      name: 'CPUs are those that we may use',
      topology: createTopology([5], [9]),
      cpus: 1,
      target: [5],
      generator: [9],
    },
  ])('$name', ({ topology, cpus, target, generator }) => {
    expect(placeSides(topology, cpus)).toEqual({ targetCpus: target, generatorCpus: generator })
  })
})

test.each([
  { text: '0\n', cpus: [0] },
  { text: '0-3,8\n', cpus: [0, 1, 2, 3, 8] },
  { text: '1,3', cpus: [1, 3] },
  { text: '10-11', cpus: [10, 11] },
  { text: '\n', cpus: [] },
])('the kernel list $text is $cpus', ({ text, cpus }) => {
  expect(parseCpuList(text)).toEqual(cpus)
})
