import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Cgroup, locateCgroup } from '../../src/docker/cgroup.ts'
import { makeTempDir } from '../helpers/temp-dir.ts'

const TREES = join(import.meta.dirname, '../fixtures/cgroup')
const PID = 1234
const PERIOD_US = 100_000

describe.each([1, 2] as const)('the recorded tree of version %i', (version) => {
  const read = (moment: 'before' | 'after') =>
    Cgroup.ofProcess(PID, join(TREES, `v${version}`, moment)).read()
  const before = read('before')
  const after = read('after')

  test('is found as what it is', () => {
    expect(Cgroup.ofProcess(PID, join(TREES, `v${version}`, 'before')).paths.version).toBe(version)
  })

  test('used a quarter of the wall time, its quota', () => {
    const wallUs = (after.periods - before.periods) * PERIOD_US
    expect((after.cpuUs - before.cpuUs) / wallUs).toBeCloseTo(0.25, 2)
  })

  test('was throttled in every period, for the rest of it', () => {
    const throttledPeriods = after.throttledPeriods - before.throttledPeriods
    expect(throttledPeriods).toBe(after.periods - before.periods)
    const share = (after.throttledUs - before.throttledUs) / (throttledPeriods * PERIOD_US)
    expect(share).toBeGreaterThan(0.7)
    expect(share).toBeLessThan(0.95)
  })

  test('counts the kill for want of memory', () => {
    expect([before.oomKills, after.oomKills]).toEqual([0, 1])
  })

  test('peaked at its limit and holds little of it', () => {
    expect(after.memoryPeakBytes).toBe(32 * 1024 * 1024)
    expect(before.memoryPeakBytes).toBeLessThan(4_000_000)
    expect(after.memoryBytes).toBeGreaterThan(0)
    expect(after.memoryBytes).toBeLessThan(2_500_000)
  })
})

test('the reading of version 1 is in microseconds and without droppable file cache', () => {
  expect(Cgroup.ofProcess(PID, join(TREES, 'v1/before')).read()).toEqual({
    cpuUs: 301_717.897,
    periods: 12,
    throttledPeriods: 10,
    throttledUs: 683_984.204,
    memoryBytes: 2_646_016 - 454_656,
    memoryPeakBytes: 3_817_472,
    oomKills: 0,
  })
})

test('a kernel that keeps no peak gives none', () => {
  using folder = makeTempDir({})
  cpSync(join(TREES, 'v2/after'), folder.path, {
    recursive: true,
    filter: (source) => !source.endsWith('memory.peak'),
  })
  const counters = Cgroup.ofProcess(PID, folder.path).read()
  expect(counters).not.toHaveProperty('memoryPeakBytes')
  expect(counters.oomKills).toBe(1)
})

test('a process that is gone is an error', () => {
  expect(() => Cgroup.ofProcess(99, join(TREES, 'v2/after'))).toThrow('ENOENT')
})

const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'

describe('locateCgroup', () => {
  test.each([
    {
      name: 'one hierarchy for all, as systemd makes it',
      membership: '0::/system.slice/docker-abc.scope\n',
      mounts: [V2_MOUNT],
      paths: { version: 2, path: '/sys/fs/cgroup/system.slice/docker-abc.scope' },
    },
    {
      name: 'controllers mounted together',
      membership: '4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n',
      mounts: [
        '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct',
        '35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:12 - cgroup cgroup rw,memory',
      ],
      paths: {
        version: 1,
        cpu: '/sys/fs/cgroup/cpu,cpuacct/docker/abc',
        cpuacct: '/sys/fs/cgroup/cpu,cpuacct/docker/abc',
        memory: '/sys/fs/cgroup/memory/docker/abc',
      },
    },
    {
      name: 'a hybrid host, whose controllers are in the old hierarchies',
      membership: '3:memory:/docker/abc\n2:cpuacct:/docker/abc\n1:cpu:/docker/abc\n0::/docker/abc\n',
      mounts: [
        '32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu',
        '33 31 0:30 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct',
        '35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory',
        '41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw',
      ],
      paths: {
        version: 1,
        cpu: '/cg/cpu/docker/abc',
        cpuacct: '/cg/cpuacct/docker/abc',
        memory: '/cg/memory/docker/abc',
      },
    },
    {
      name: 'a hybrid host, whose controllers are in the new one',
      membership: '1:name=systemd:/docker/abc\n0::/docker/abc\n',
      mounts: [
        '40 31 0:37 / /cg/systemd rw - cgroup cgroup rw,name=systemd',
        '41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw',
      ],
      paths: { version: 2, path: '/cg/unified/docker/abc' },
    },
    {
      name: 'a mount of a subtree',
      membership: '0::/docker/outer/docker/abc\n',
      mounts: ['30 23 0:26 /docker/outer /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
      paths: { version: 2, path: '/sys/fs/cgroup/docker/abc' },
    },
    {
      name: 'the very group that is mounted',
      membership: '0::/docker/outer\n',
      mounts: ['30 23 0:26 /docker/outer /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
      paths: { version: 2, path: '/sys/fs/cgroup' },
    },
    {
      name: 'a group whose name only begins like the mounted one',
      membership: '0::/docker/outer-two\n',
      mounts: ['30 23 0:26 /docker/outer /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
      paths: { version: 2, path: '/sys/fs/cgroup/docker/outer-two' },
    },
    {
      name: 'a path with a colon',
      membership: '0::/a:b/abc\n',
      mounts: [V2_MOUNT],
      paths: { version: 2, path: '/sys/fs/cgroup/a:b/abc' },
    },
  ])('finds $name', ({ membership, mounts, paths }) => {
    expect(locateCgroup(membership, `${mounts.join('\n')}\n`)).toEqual(paths)
  })

  test('says so when nothing is mounted', () => {
    expect(() => locateCgroup('0::/\n', '1 1 0:1 / / rw - ext4 /dev/vda rw\n')).toThrow(
      'no cgroup v1 or v2 hierarchy with the cpu controller is mounted',
    )
  })
})
