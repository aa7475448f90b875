/** What Docker gives a container by default, and the most that a target may ask for. */
export const CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
] as const
export type Capability = (typeof CAPABILITIES)[number]

/** The service under test: how it is had, reached, made ready, filled and checked. */
export interface Target {
  /** Folder or scenario name, unique in a plan. */
  readonly name: string
  readonly source: TargetSource
  /** TCP port the service listens on inside its container (1-65535). */
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  /** Replaces the image's CMD. */
  readonly command?: readonly string[]
  /** Linux capabilities that its container keeps; all others are dropped. @default none */
  readonly capabilities: readonly Capability[]
  readonly ready: Readiness
  /** Steps that fill the service before load, once per container, at full CPU. */
  readonly prepare: readonly PrepareStep[]
  /** Checked once before load; a service that answers wrongly is not measured. */
  readonly verify: readonly Verification[]
}

/** Where a target comes from. Paths are absolute. `url` is something already running: it has no limits. */
export type TargetSource =
  | {
      readonly kind: 'build'
      readonly context: string
      readonly dockerfile: string
      readonly args: Readonly<Record<string, string>>
    }
  | { readonly kind: 'image'; readonly image: string }
  | { readonly kind: 'url'; readonly url: string }

/** When a started container counts as ready. `http` waits for a 2xx answer, `tcp` for an accepted connection, `command` for exit code 0 inside the container. */
export type Readiness =
  | { readonly kind: 'http'; readonly path: string; readonly timeoutMs: number }
  | { readonly kind: 'tcp'; readonly timeoutMs: number }
  | { readonly kind: 'command'; readonly command: readonly string[]; readonly timeoutMs: number }

/** One step of filling a service: a request sent `repeat` times (`{i}` in path and body counts from 1), or a command inside the container. */
export type PrepareStep =
  | { readonly kind: 'request'; readonly request: HttpRequest; readonly repeat: number }
  | { readonly kind: 'command'; readonly command: readonly string[] }

/** A request and what its answer must be. */
export interface Verification {
  readonly request: HttpRequest
  /** Expected status; 200-299 when absent. */
  readonly status?: number
  /** Text that the body must contain. */
  readonly body?: string
  /** JSON that the body must contain: objects as subsets, everything else equal. */
  readonly json?: unknown
}

/** One HTTP request, without its origin. */
export interface HttpRequest {
  readonly method: string
  /** Path with query, starting with `/`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}
