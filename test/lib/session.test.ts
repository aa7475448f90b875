import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { findOrphanedFolders, isSessionAlive, newSession, temporaryFolder } from '../../src/lib/session.ts'
import { makeTempDir } from '../helpers/temp-dir.ts'

test('a session is named after the process and the time it began', () => {
  expect(newSession()).toMatch(new RegExp(`^bench-action-${process.pid}-\\d+$`))
  expect(newSession()).toBe(newSession())
})

test.each([
  { name: 'our own', session: () => newSession(), alive: true },
  { name: 'something of our own', session: () => `${newSession()}-3`, alive: true },
  { name: "an earlier process's with our id", session: () => `bench-action-${process.pid}-1`, alive: false },
  // Above the highest that Linux gives.
  { name: "a process's that is gone", session: () => 'bench-action-4194305-1', alive: false },
  { name: 'a name that is no session', session: () => 'bench-action-x', alive: false },
  { name: 'the empty name', session: () => '', alive: false },
])('$name is alive: $alive', ({ session, alive }) => {
  expect(isSessionAlive(session())).toBe(alive)
})

test('a temporary folder lives as long as its scope', async () => {
  let path: string
  {
    await using folder = await temporaryFolder(newSession())
    path = folder.path
    expect(existsSync(path)).toBe(true)
    expect(await findOrphanedFolders()).not.toContain(path)
  }
  expect(existsSync(path)).toBe(false)
})

test('folders of dead sessions are orphans, those of other names are not', async () => {
  const other = makeTempDir({})
  const orphan = await temporaryFolder('bench-action-4194305-1')
  try {
    const found = await findOrphanedFolders()
    expect(found).toContain(orphan.path)
    expect(found.map((path) => basename(path))).not.toContain(basename(other.path))
  } finally {
    await orphan[Symbol.asyncDispose]()
    other[Symbol.dispose]()
  }
})
