import type { Target } from '../model/target.ts'
import type { Service } from './service.ts'

/** Something already running as a service: nothing to limit, to read or to stop. @throws Error when the target is not a URL */
export async function startUrl(target: Target): Promise<Service> {
  if (target.source.kind !== 'url') throw new Error(`target ${target.name} needs Docker`)
  const { origin } = new URL(target.source.url)
  return {
    checkOrigin: origin,
    loadOrigin: origin,
    prefix: [],
    path: 'url',
    placement: { targetCpus: [], generatorCpus: [] },
    readCounters: () => undefined,
    setCpus: async () => {},
    exec: () => Promise.reject(new Error('a url target has no container to run a command in')),
    ended: async () => undefined,
    logTail: async () => [],
    [Symbol.asyncDispose]: async () => {},
  }
}
