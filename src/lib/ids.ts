import { createHash, randomBytes } from 'node:crypto'

let lastMs = 0
let sequence = 0
let pool = Buffer.alloc(0)
let poolOffset = 0

/**
 * A UUID version 7 (RFC 9562): time-ordered, so that rows land at the end of their index. Ids of one process
 * are strictly increasing (the 12 bits after the time count within a millisecond).
 */
export function createId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs
    sequence = 0
  } else if (++sequence > 0xfff) {
    lastMs += 1
    sequence = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const random = takeRandom(8)
  random[0] = ((random[0] as number) & 0x3f) | 0x80
  const tail = random.toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${tail.slice(0, 4)}-${tail.slice(4)}`
}

/** True for the text form of any UUID. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}

/** `length` random characters of 0-9 A-Z a-z, each with 5.95 bits of randomness. */
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

/** One system call fills a pool that serves many ids. */
function takeRandom(bytes: number): Buffer {
  if (poolOffset + bytes > pool.length) {
    pool = randomBytes(4096)
    poolOffset = 0
  }
  poolOffset += bytes
  return pool.subarray(poolOffset - bytes, poolOffset)
}
