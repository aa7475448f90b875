import { expect, test } from 'vitest'
import { parseCpuTimes } from '../../src/bench/host.ts'

/** user nice system idle iowait irq softirq steal guest guest_nice, in jiffies of 10 ms. */
const STAT = `cpu  100 20 30 1000 50 6 7 8 90 10
cpu0 60 20 10 500 25 6 3 4 90 10
cpu1 40 0 20 500 25 0 4 4 0 0
intr 12345 0 9
ctxt 67890
btime 1700000000
procs_running 2
`

test('busy is neither idle nor waiting nor stolen, and guests are counted once', () => {
  expect(parseCpuTimes(STAT)).toEqual({
    busyUs: 1_630_000,
    stealUs: 80_000,
    busyByCpuUs: { 0: 990_000, 1: 640_000 },
    stealByCpuUs: { 0: 40_000, 1: 40_000 },
  })
})

test('an old kernel without the later columns has none of their time', () => {
  expect(parseCpuTimes('cpu  1 2 3 4\ncpu0 1 2 3 4\n')).toEqual({
    busyUs: 60_000,
    stealUs: 0,
    busyByCpuUs: { 0: 60_000 },
    stealByCpuUs: { 0: 0 },
  })
})
