import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What an awkward server itself counted. */
export interface ServerCounts {
  readonly connections: number
  /** Requests that arrived whole; each is also one of the following, or not answered yet. */
  readonly received: number
  /** Answered as a client would like it. */
  readonly answered: number
  /** Answered with status 500. */
  readonly refused: number
  /** Connection ended or reset before or in the middle of the answer. */
  readonly dropped: number
  /** Never answered, connection left open. */
  readonly hung: number
  /** Answered after the time that the path says. */
  readonly slow: number
}

/** A running awkward server; disposing of it ends its process. */
export interface AwkwardServer extends AsyncDisposable {
  readonly origin: string
  counts(): Promise<ServerCounts>
}

/**
 * Starts the awkward server in a process of its own on 127.0.0.1. Paths; where `every` stands, each so many-th
 * request is treated so and the others are answered at once:
 * `/fast?us` works for so many microseconds, `/delay?ms` waits, `/close?ms` waits and closes after its answer,
 * `/close-busy?us` works and closes,
 * `/close-extra` sends more after an answer that closes, `/eof` ends its body with the connection,
 * `/drop-fin?every`, `/drop-rst?every`, `/drop-partial?every` (in the middle of the body), `/garbage?every`,
 * `/hang?every`, `/status?every` (500), `/slow?every&ms`, `/interim` (103 before its answer), `/die?after`.
 * @param cpu CPU to pin it to
 */
export async function startAwkwardServer(cpu?: number): Promise<AwkwardServer> {
  const script = [process.execPath, fileURLToPath(import.meta.url)]
  const [file = '', ...args] = cpu === undefined ? script : ['taskset', '-c', `${cpu}`, ...script]
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const read = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('the awkward server is gone')
    return value
  }
  const port = await read()
  return {
    origin: `http://127.0.0.1:${port}`,
    counts: async () => {
      child.stdin.write('counts\n')
      return JSON.parse(await read())
    },
    [Symbol.asyncDispose]: () => end(child),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGKILL')
  await exited
}

type MutableCounts = { -readonly [Key in keyof ServerCounts]: ServerCounts[Key] }

function serve(): void {
  const counts: MutableCounts = {
    connections: 0,
    received: 0,
    answered: 0,
    refused: 0,
    dropped: 0,
    hung: 0,
    slow: 0,
  }
  const server = createServer({ noDelay: true }, (socket) => {
    counts.connections++
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
      if (text.length < head + 4 + length) return
      const request = text
      text = ''
      counts.received++
      handle(request, socket, counts)
    })
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, () => {
    const address = server.address()
    console.log(typeof address === 'object' ? address?.port : address)
  })
  createInterface({ input: process.stdin })
    .on('line', () => console.log(JSON.stringify(counts)))
    .on('close', () => process.exit(0))
}

function handle(request: string, socket: Socket, counts: MutableCounts): void {
  const [, method = '', target = '/'] = /^(\S+) (\S+)/.exec(request) ?? []
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  const parameter = (name: string): number => Number(searchParams.get(name) ?? 0)
  const isTurn = counts.received % parameter('every') === 0
  const asksToClose = /\r\nconnection: close\r\n/i.test(request)

  const answer = (extraHead = '', status = '200 OK'): void => {
    if (socket.destroyed) return
    const body = 'hello, world\n'
    const close = asksToClose ? 'Connection: close\r\n' : ''
    const head = `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n${close}${extraHead}\r\n`
    socket.write(method === 'HEAD' ? head : head + body)
    if (asksToClose || extraHead.includes('close')) socket.end()
    if (status.startsWith('2')) counts.answered++
    else counts.refused++
  }
  const instead = (kind: 'dropped' | 'hung', act: () => void): void => {
    if (isTurn) {
      counts[kind]++
      act()
    } else answer()
  }

  const actions: Readonly<Record<string, () => void>> = {
    '/fast': () => {
      spin(parameter('us'))
      answer()
    },
    '/delay': () => setTimeout(() => answer(), parameter('ms')),
    '/close': () => setTimeout(() => answer('Connection: close\r\n'), parameter('ms')),
    '/close-busy': () => {
      spin(parameter('us'))
      answer('Connection: close\r\n')
    },
    '/close-extra': () => {
      counts.answered++
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
      setTimeout(() => socket.end('HTTP/1.1 500 Late\r\nContent-Length: 2\r\n\r\nno'), 2)
    },
    '/eof': () => {
      counts.answered++
      socket.write('HTTP/1.1 200 OK\r\n\r\nhalf of it, ')
      setTimeout(() => socket.end('the rest'), 1)
    },
    '/drop-fin': () => instead('dropped', () => socket.end()),
    '/drop-rst': () => instead('dropped', () => socket.resetAndDestroy()),
    '/drop-partial': () =>
      instead('dropped', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort')),
    '/garbage': () => instead('dropped', () => socket.write('no HTTP at all\r\n\r\n')),
    '/hang': () => instead('hung', () => {}),
    '/status': () => answer('', isTurn ? '500 Internal Server Error' : '200 OK'),
    '/slow': () => {
      if (isTurn) {
        counts.slow++
        setTimeout(() => answer(), parameter('ms'))
      } else answer()
    },
    '/interim': () => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n')
      setTimeout(() => answer(), 2)
    },
    '/die': () => {
      if (counts.received > parameter('after')) process.exit(0)
      answer()
    },
  }
  const act = actions[pathname] ?? (() => answer())
  act()
}

function spin(us: number): void {
  const until = performance.now() + us / 1_000
  while (performance.now() < until);
}

if (import.meta.main) serve()
