import { createHash, randomBytes } from 'node:crypto'

let lastMs = 0
let sequence = 0
/** The time as the ids of this millisecond begin. */
let beginning = ''
/** Random hexadecimal digits: one system call serves many ids. */
let pool = ''
let poolOffset = 0

/**
 * A UUID version 7 (RFC 9562): time-ordered, so that rows land at the end of their index. Ids of one process
 * are strictly increasing (the 12 bits after the time count within a millisecond).
 */
export function createId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    turnTo(nowMs)
  } else if (++sequence > 0xfff) {
    turnTo(lastMs + 1)
  }
  const count = sequence.toString(16).padStart(3, '0')
  if (poolOffset + RANDOM_DIGITS > pool.length) {
    pool = randomBytes(4096).toString('hex')
    poolOffset = 0
  }
  const at = poolOffset
  poolOffset += RANDOM_DIGITS
  const variant = VARIANTS[pool.charCodeAt(at) & 3] as string
  return `${beginning}${count}-${variant}${pool.slice(at + 1, at + 4)}-${pool.slice(at + 4, at + RANDOM_DIGITS)}`
}

const RANDOM_DIGITS = 16
/** The first digit of the random part has two fixed bits. */
const VARIANTS = ['8', '9', 'a', 'b'] as const

function turnTo(ms: number): void {
  lastMs = ms
  sequence = 0
  const time = ms.toString(16).padStart(12, '0')
  beginning = `${time.slice(0, 8)}-${time.slice(8)}-7`
}

/** Whether the text is the text form of any UUID. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}

/** Returns `length` random characters of 0-9 A-Z a-z, each with 5.95 bits of randomness. */
export function randomText(length: number): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte; taking more would favour the first letters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

export function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

/** Returns the digits of an id: what the public id of a response, a video, a file or a batch ends with. */
export function idTailOf(id: string): string {
  return id.replaceAll('-', '')
}

/** Returns the id whose digits the pattern finds in a longer one. */
export function uuidIn(pattern: RegExp, id: string): string | undefined {
  const digits = pattern.exec(id)?.[1]
  return digits?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
