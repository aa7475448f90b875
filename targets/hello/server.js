// A service whose answers, cost and failures are chosen by the request or by the environment,
// so that integration tests have something to measure and something to break.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const MEBIBYTE = 1024 * 1024
const MAX_ROUNDS = 10_000_000
const MAX_SLOW_MS = 60_000
const MAX_ALLOC_MEBIBYTES = 4096

/** Every so many-th answer at `/` is a 503; 0 for none. */
const FAIL_EVERY = Number(process.env.FAIL_EVERY ?? 0)
let answers = 0

/** Memory taken by `/alloc`, kept so that the process grows until its limit. */
const kept = []

/** An answer that is the client's fault: status 400 with the reason. */
class BadRequest extends Error {}

/** The whole number that `name` has in the query, from 0 to `max`; throws BadRequest when it is anything else. */
function wholeNumber(query, name, max) {
  const text = query.get(name) ?? ''
  const value = Number(text)
  if (text === '' || !Number.isInteger(value) || value < 0 || value > max) {
    throw new BadRequest(`${name} must be a whole number from 0 to ${max}, not "${text}"\n`)
  }
  return value
}

/** The hexadecimal digest of `rounds` chained SHA-256 over an empty start: the same work on every machine. */
export function work(rounds) {
  let digest = Buffer.alloc(32)
  for (let round = 0; round < rounds; round += 1) digest = createHash('sha256').update(digest).digest()
  return digest.toString('hex')
}

async function bodyOf(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The status and body that answer `request`. */
async function answer(request) {
  const { pathname, searchParams: query } = new URL(request.url, 'http://localhost')
  const [first, argument] = pathname.split('/').slice(1).map(decodeURIComponent)

  switch (`${request.method} /${first}`) {
    case 'GET /':
      answers += 1
      if (FAIL_EVERY > 0 && answers % FAIL_EVERY === 0) return { status: 503, body: 'failing, as asked\n' }
      return { status: 200, body: 'hello\n' }
    case 'GET /healthz':
      return { status: 200, body: 'ok\n' }
    case 'GET /work':
      return { status: 200, body: `${work(wholeNumber(query, 'rounds', MAX_ROUNDS))}\n` }
    case 'GET /slow':
      await sleep(wholeNumber(query, 'ms', MAX_SLOW_MS))
      return { status: 200, body: 'slow\n' }
    case 'POST /echo':
      return { status: 200, body: await bodyOf(request), type: request.headers['content-type'] }
    case 'GET /status': {
      const status = Number(argument)
      if (!Number.isInteger(status) || status < 200 || status > 599) {
        throw new BadRequest(`the status must be from 200 to 599, not "${argument}"\n`)
      }
      return { status, body: `${status}\n` }
    }
    case 'GET /env': {
      const value = process.env[argument]
      return value === undefined ? { status: 404, body: 'not set\n' } : { status: 200, body: `${value}\n` }
    }
    case 'GET /crash':
      console.error('crashing, as asked')
      process.exit(3)
      break
    case 'GET /alloc': {
      const size = wholeNumber(query, 'mb', MAX_ALLOC_MEBIBYTES)
      // Piece by piece and filled: memory that nobody wrote to does not count against the limit.
      for (let i = 0; i < size; i += 1) kept.push(Buffer.alloc(MEBIBYTE, 1))
      return { status: 200, body: `${kept.length}\n` }
    }
  }
  return { status: 404, body: 'not found\n' }
}

async function respond(request, response) {
  let result
  try {
    result = await answer(request)
  } catch (error) {
    const fault = error instanceof BadRequest || error instanceof URIError
    if (!fault) console.error(error)
    result = { status: fault ? 400 : 500, body: fault ? error.message : 'internal error\n' }
  }
  const body = Buffer.from(result.body)
  response.writeHead(result.status, {
    'content-type': result.type ?? 'text/plain; charset=utf-8',
    'content-length': body.length,
  })
  response.end(body)
}

/** The server, not listening yet. */
export const server = createServer(respond)
// The default of 5 s would close connections that a load generator pauses on.
server.keepAliveTimeout = 60_000

async function main() {
  // As PID 1 of a container the process would otherwise ignore these.
  for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => process.exit(0))

  if (process.env.FAIL_START === '1') {
    console.error('FAIL_START is 1: refusing to start')
    process.exit(1)
  }
  if (process.env.NEVER_READY === '1') {
    console.log('NEVER_READY is 1: running without listening')
    setInterval(() => {}, MAX_SLOW_MS)
    return
  }
  await sleep(Number(process.env.READY_DELAY_MS ?? 0))
  const port = Number(process.env.PORT ?? 8080)
  server.listen(port, '0.0.0.0', () => console.log(`listening on port ${server.address().port}`))
}

if (import.meta.main) await main()
