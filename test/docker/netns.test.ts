import { afterEach, expect, test, vi } from 'vitest'
import { enterNetns, pinTo } from '../../src/docker/netns.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test.each([
  { access: 'root', argv: 'nsenter --target 42 --net --' },
  { access: 'sudo', argv: 'sudo -n -- nsenter --target 42 --net --setuid 1000 --setgid 100 --' },
] as const)('as $access a namespace is entered by $argv', ({ access, argv }) => {
  vi.spyOn(process, 'getuid').mockReturnValue(1000)
  vi.spyOn(process, 'getgid').mockReturnValue(100)
  expect(enterNetns(access, 42).join(' ')).toBe(argv)
})

test.each([
  { cpus: [], argv: '' },
  { cpus: [1], argv: 'taskset --cpu-list 1' },
  { cpus: [1, 3], argv: 'taskset --cpu-list 1,3' },
])('CPUs $cpus are pinned to by "$argv"', ({ cpus, argv }) => {
  expect(pinTo(cpus).join(' ')).toBe(argv)
})
