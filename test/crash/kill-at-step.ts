/**
 * Preloaded (`--import`) into a process that is to be killed at `KILL_AT=<step>:<moment>`; it changes nothing else.
 * A step, counted from 1, is a request over a socket that gets an answer: a statement to the database, an HTTP
 * request, an SMTP command; and an answer of our own, with each write of a stream's events. Steps count from the start,
 * or from a SIGUSR2 if `KILL_AFTER_SIGNAL` is set. The moments of a step: `before` it is sent, once it is `sent`, and
 * when its answer has `arrived` but no code has seen it. A process that exits without being killed reports its number
 * of steps.
 */
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'

interface Exchange {
  /** The step whose answer arrives next on this socket. */
  step: number
  label: string
}

const WRITE = '_writeGeneric'

/** The internal methods of a socket that write and receive; pipes to the database have them too. */
interface SocketInside {
  readonly connecting: boolean
  [WRITE]: (
    this: SocketInside,
    isMany: boolean,
    data: unknown,
    encoding: string,
    done: unknown,
  ) => unknown
  push: (this: SocketInside, chunk: unknown, encoding?: string) => boolean
}

const [killStep, killMoment] = (process.env.KILL_AT ?? '').split(':')
const exchanges = new WeakMap<object, Exchange>()
let isCounting = process.env.KILL_AFTER_SIGNAL === undefined
if (!isCounting) process.once('SIGUSR2', () => (isCounting = true))
let steps = 0

const inside = Socket.prototype as unknown as SocketInside
const { [WRITE]: write, push } = inside

inside[WRITE] = function (this: SocketInside, isMany, data, encoding, done) {
  // Node.js calls it again when the socket is connected.
  if (this.connecting || !isCounting) return write.call(this, isMany, data, encoding, done)
  const label = labelOf(headOf(isMany, data, encoding), exchanges.get(this)?.label)
  if (label === undefined) return write.call(this, isMany, data, encoding, done)
  steps += 1
  exchanges.set(this, { step: steps, label })
  dieIfDue(steps, 'before', label)
  const result = write.call(this, isMany, data, encoding, done)
  dieIfDue(steps, 'sent', label)
  return result
}

inside.push = function (this: SocketInside, chunk, encoding) {
  const exchange = exchanges.get(this)
  if (chunk !== null && exchange) dieIfDue(exchange.step, 'arrived', exchange.label)
  return push.call(this, chunk, encoding)
}

process.on('exit', () => writeSync(1, `steps ${steps}\n`))

function dieIfDue(step: number, moment: string, label: string): void {
  if (String(step) !== killStep || moment !== killMoment) return
  writeSync(1, `killed ${label.replaceAll(/\s+/g, ' ')}\n`)
  process.kill(process.pid, 'SIGKILL')
  // No code of ours runs until the signal arrives.
  for (;;);
}

const HEAD_BYTES = 120
/** A chunk of HTTP is written as three pieces: its size, its data and a line break. */
const CHUNKS_MAX = 3

function headOf(isMany: boolean, data: unknown, encoding: string): Buffer {
  const chunks = isMany
    ? (data as { chunk: unknown; encoding: string }[]).slice(0, CHUNKS_MAX)
    : [{ chunk: data, encoding }]
  const bytes = chunks.map(({ chunk, encoding: of }) =>
    typeof chunk === 'string' ? Buffer.from(chunk, of as BufferEncoding) : chunk,
  )
  return Buffer.concat(bytes.filter((each) => Buffer.isBuffer(each))).subarray(0, HEAD_BYTES)
}

const HTTP = /^((GET|POST|PUT|PATCH|DELETE) \/\S* HTTP\/1\.1|HTTP\/1\.1 \d{3})[ \r]/
/** The start of events in a write, maybe behind the size of their chunk. */
const EVENTS = /^(?:[0-9a-f]+\r\n)?(?:event|data): /
const SMTP = /^(EHLO|MAIL FROM|RCPT TO|DATA)\b/
const SQL = /[a-z][a-z_]+ [^\0]*/

/** Undefined for data that is no step: the rest of a request, and the start and end of a database connection. */
function labelOf(head: Buffer, last: string | undefined): string | undefined {
  const text = head.toString('latin1')
  // A message of PostgreSQL: its type, then its length. P: parse, Q: query, B: bind.
  if (/^[PQB]\0/.test(text)) return SQL.exec(text)?.[0] ?? text.slice(5, 40)
  if (EVENTS.test(text)) return 'events of a stream'
  const known = HTTP.exec(text)?.[1] ?? SMTP.exec(text)?.[0]
  return known ?? (SMTP.test(last ?? '') ? 'the mail itself' : undefined)
}
