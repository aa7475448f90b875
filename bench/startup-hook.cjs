// Preloaded into the process that bench/startup.ts measures: writes one line of JSON to file descriptor 3 at the first
// output, or at the end where there is none.
const { writeSync } = require('node:fs')
const { Duplex, Writable } = require('node:stream')

let told = false
function tell() {
  if (told) return
  told = true
  const { user, system } = process.cpuUsage()
  writeSync(
    3,
    `${JSON.stringify({ cpuUs: user + system, atMs: performance.timeOrigin + performance.now() })}\n`,
  )
}

// Asking for process.stdout would open it, which is a part of what is measured. Duplex holds copies of Writable's methods.
for (const { prototype } of [Writable, Duplex]) {
  const { write } = prototype
  prototype.write = function (...args) {
    if (this.fd === 1 || this.fd === 2) tell()
    return write.apply(this, args)
  }
}
process.on('exit', tell)
