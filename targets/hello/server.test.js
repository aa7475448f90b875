import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { server } from './server.js'

let origin

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${server.address().port}`
})

after(() => {
  server.close()
  server.closeAllConnections()
})

/** The status and text that the server in this process answers. */
async function get(path, init) {
  const response = await fetch(origin + path, init)
  return { status: response.status, body: await response.text() }
}

process.env.HELLO_TEST_VALUE = 'of the environment'

for (const [path, status, body] of [
  ['/', 200, 'hello\n'],
  ['/healthz', 200, 'ok\n'],
  ['/slow?ms=1', 200, 'slow\n'],
  ['/status/500', 500, '500\n'],
  ['/env/HELLO_TEST_VALUE', 200, 'of the environment\n'],
  ['/env/HELLO_TEST_NOT_SET', 404, 'not set\n'],
  ['/alloc?mb=1', 200, '1\n'],
  ['/nowhere', 404, 'not found\n'],
  ['/slow?ms=soon', 400, 'ms must be a whole number from 0 to 60000, not "soon"\n'],
  ['/work', 400, 'rounds must be a whole number from 0 to 10000000, not ""\n'],
  ['/status/99', 400, 'the status must be from 200 to 599, not "99"\n'],
  ['/env/%', 400, 'URI malformed'],
]) {
  test(`answers GET ${path} with ${status}`, async () => {
    assert.deepEqual(await get(path), { status, body })
  })
}

test('does the rounds of work that it is asked for', async () => {
  const zeros = '0'.repeat(64)
  // SHA-256 of 32 zero bytes, from `head -c 32 /dev/zero | sha256sum`.
  const once = '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925'
  assert.equal((await get('/work?rounds=0')).body, `${zeros}\n`)
  assert.equal((await get('/work?rounds=1')).body, `${once}\n`)
})

test('echoes a body with its type', async () => {
  const response = await fetch(`${origin}/echo`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.deepEqual(await response.json(), { a: 1 })
})

/** A port that nothing listens on. */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** Starts the service as a process of its own and waits for its first line of output. */
async function start(env) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('server.js', import.meta.url))], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [chunk] = await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')])
  return { child, line: String(chunk).trim(), exit: once(child, 'exit') }
}

test('ends at once with status 0 on SIGTERM', async () => {
  const port = await freePort()
  const { child, line, exit } = await start({ PORT: String(port) })
  assert.equal(line, `listening on port ${port}`)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
})

test('exits with 3 on /crash', async () => {
  const port = await freePort()
  const { exit } = await start({ PORT: String(port) })
  await assert.rejects(fetch(`http://127.0.0.1:${port}/crash`))
  assert.deepEqual(await exit, [3, null])
})

test('says why it does not start with FAIL_START=1', async () => {
  const { line, exit } = await start({ FAIL_START: '1' })
  assert.equal(line, 'FAIL_START is 1: refusing to start')
  assert.deepEqual(await exit, [1, null])
})

test('runs without listening with NEVER_READY=1', async () => {
  const port = await freePort()
  const { child, exit } = await start({ PORT: String(port), NEVER_READY: '1' })
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`))
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
})

test('fails each N-th answer at / with FAIL_EVERY=N', async () => {
  const port = await freePort()
  const { child, exit } = await start({ PORT: String(port), FAIL_EVERY: '3' })
  const statuses = []
  for (let i = 0; i < 6; i += 1) statuses.push((await fetch(`http://127.0.0.1:${port}/`)).status)
  assert.deepEqual(statuses, [200, 200, 503, 200, 200, 503])
  child.kill('SIGTERM')
  await exit
})
