import { readFileSync } from 'node:fs'
import os from 'node:os'
import type { DockerInfo } from '../docker/docker.ts'
import type { Environment } from '../model/results.ts'

/** The fingerprint of this machine. `docker` is absent when only `url` targets are measured. */
export function readEnvironment(docker: DockerInfo | undefined): Environment {
  const { ImageOS, ImageVersion } = process.env
  const runnerImage = ImageOS === undefined ? undefined : [ImageOS, ImageVersion].join(' ').trim()
  return {
    cpuModel: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    kernel: os.release(),
    os: osName(),
    arch: os.arch(),
    node: process.versions.node,
    ...(docker === undefined
      ? {}
      : {
          cgroupVersion: docker.cgroupVersion,
          docker: {
            version: docker.version,
            storageDriver: docker.storageDriver,
            cgroupDriver: docker.cgroupDriver,
          },
        }),
    ...(runnerImage === undefined ? {} : { runnerImage }),
  }
}

function osName(): string {
  try {
    const [, name] = /^PRETTY_NAME="?(.*?)"?$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
    return name ?? os.type()
  } catch {
    // Not every Linux has the file, and its name is only shown.
    return os.type()
  }
}
