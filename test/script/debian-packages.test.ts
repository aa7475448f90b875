import { expect, test } from 'vitest'
import { closure, parsePackages, withParents } from '../../script/debian-packages.ts'

const packages = parsePackages(
  [
    'base-files\tbase-files\tamd64\tinstalled\tyes\trequired\tawk, \t',
    'mawk\tmawk\tamd64\tinstalled\tno\trequired\t, libc6 (>= 2.34)\tawk',
    'libc6\tlibc6:amd64\tamd64\tinstalled\tno\toptional\tlibgcc-s1:any | libgcc1, \tlibc6-2.36',
    'libc6\tlibc6:i386\ti386\tinstalled\tno\toptional\t, \t',
    'libgcc-s1\tlibgcc-s1:amd64\tamd64\tinstalled\tno\toptional\t, libc6\t',
    'nano\tnano\tamd64\tconfig-files\tno\timportant\t, libc6\t',
    'ca-certificates\tca-certificates\tall\tinstalled\tno\tstandard\t, openssl (>= 1.1.1)\t',
    '',
  ].join('\n'),
  'amd64',
)

const namesOf = (...roots: string[]) => [...closure(packages, roots)].map((one) => one.name).sort()

test('reads the installed packages of one architecture', () => {
  expect([...packages.keys()]).toEqual(['base-files', 'mawk', 'libc6', 'libgcc-s1', 'ca-certificates'])
  expect(packages.get('libc6')?.qualifiedName).toBe('libc6:amd64')
  expect([...packages.values()].filter((one) => one.base).map((one) => one.name)).toEqual([
    'base-files',
    'mawk',
  ])
})

test('follows dependencies through alternatives, virtual packages and circles', () => {
  expect(namesOf('base-files')).toEqual(['base-files', 'libc6', 'libgcc-s1', 'mawk'])
})

test('leaves out a dependency that nothing installed meets', () => {
  expect(namesOf('ca-certificates')).toEqual(['ca-certificates'])
})

test('refuses a package that is not installed', () => {
  expect(() => namesOf('nano')).toThrow('the package nano is not installed on this machine')
})

test('adds the directories above files', () => {
  expect([...withParents(['/etc/ssl/certs', '/usr'])].sort()).toEqual([
    '/etc',
    '/etc/ssl',
    '/etc/ssl/certs',
    '/usr',
  ])
})
