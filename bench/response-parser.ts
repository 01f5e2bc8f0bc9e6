/**
 * Finds the end of consecutive HTTP/1.1 responses with as little work as possible, because the load
 * generator shares the processors with its target. It understands content-length and chunked
 * bodies, and nothing else.
 */
const HEAD = 0
const LENGTH_BODY = 1
const CHUNK_SIZE = 2
const CHUNK_EXTENSION = 3
const CHUNK_DATA = 4
const CHUNK_END = 5
const TRAILER = 6

const LF = 10
const CR = 13
const SEMICOLON = 59

/** `data: [DONE]` with its empty line. */
const TAIL_BYTES = 14

export class ResponseParser {
  status = 0
  bodyBytes = 0
  /** True when the server will close the connection after this response. */
  isLast = false
  #state = HEAD
  #head: Buffer | undefined
  /** Remaining bytes of the body or the chunk; in the trailer, bytes of the line so far. */
  #left = 0
  readonly #tail = Buffer.alloc(TAIL_BYTES)

  /** Reads the next bytes without keeping them. True when they complete the response. */
  push(bytes: Buffer): boolean {
    let at = 0
    if (this.#state === HEAD) {
      at = this.#readHead(bytes)
      if (at < 0) return false
    }
    const isSized = this.#state === LENGTH_BODY
    const end = isSized ? this.#readLength(bytes, at) : this.#readChunks(bytes, at)
    if (end < 0) return false
    if (end < bytes.length) throw new Error('bytes after the end of the response')
    this.#state = HEAD
    return true
  }

  /** Whether the end of an event stream is among the last bytes of the body. */
  hasEnd(endOfEvents: string): boolean {
    return this.#tail.includes(endOfEvents)
  }

  /** Returns the offset of the body in `bytes`, or -1 while the head is incomplete. */
  #readHead(bytes: Buffer): number {
    const head = this.#head === undefined ? bytes : Buffer.concat([this.#head, bytes])
    const headEnd = head.indexOf('\r\n\r\n')
    if (headEnd < 0) {
      this.#head = Buffer.from(head)
      return -1
    }
    const text = head.toString('latin1', 0, headEnd)
    const bodyStart = headEnd + 4 - (this.#head?.length ?? 0)
    this.#head = undefined
    this.#begin(text)
    return bodyStart
  }

  #begin(head: string): void {
    if (!head.startsWith('HTTP/1.1 ')) throw new Error(`not a response: ${head.slice(0, 60)}`)
    this.status = Number(head.slice(9, 12))
    this.bodyBytes = 0
    this.isLast = /\r\nconnection: *close/i.test(head)
    this.#tail.fill(0)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length !== undefined) {
      this.#state = LENGTH_BODY
      this.#left = Number(length)
    } else if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#state = CHUNK_SIZE
      this.#left = 0
    } else {
      throw new Error(`a response without length: ${head.slice(0, 200)}`)
    }
  }

  #readLength(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#take(end - at)
    return this.#left === 0 ? end : -1
  }

  #readChunks(bytes: Buffer, start: number): number {
    let at = start
    while (at < bytes.length) {
      if (this.#state === CHUNK_DATA) {
        const end = Math.min(bytes.length, at + this.#left)
        this.#take(end - at)
        this.#keepTail(bytes, at, end)
        if (this.#left === 0) this.#state = CHUNK_END
        at = end
      } else {
        at += 1
        if (this.#framing(bytes[at - 1]!)) return at
      }
    }
    return -1
  }

  /** Reads one byte between chunks. True when it ends the response. */
  #framing(byte: number): boolean {
    switch (this.#state) {
      case CHUNK_SIZE:
        if (byte === LF) this.#state = this.#left === 0 ? TRAILER : CHUNK_DATA
        else if (byte === SEMICOLON) this.#state = CHUNK_EXTENSION
        else if (byte !== CR) this.#left = this.#left * 16 + hexDigit(byte)
        return false
      case CHUNK_EXTENSION:
        if (byte === LF) this.#state = this.#left === 0 ? TRAILER : CHUNK_DATA
        return false
      case CHUNK_END:
        if (byte === LF) this.#state = CHUNK_SIZE
        return false
      default:
        if (byte === CR) return false
        if (byte !== LF) {
          this.#left += 1
          return false
        }
        if (this.#left === 0) return true
        this.#left = 0
        return false
    }
  }

  #take(length: number): void {
    this.bodyBytes += length
    this.#left -= length
  }

  /** Keeps the last bytes of the body, even when they arrive in several pieces. */
  #keepTail(bytes: Buffer, start: number, end: number): void {
    const length = end - start
    if (length >= TAIL_BYTES) {
      bytes.copy(this.#tail, 0, end - TAIL_BYTES, end)
      return
    }
    this.#tail.copyWithin(0, length)
    bytes.copy(this.#tail, TAIL_BYTES - length, start, end)
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  if (lower >= 97 && lower <= 102) return lower - 87
  throw new Error(`not a chunk size: byte ${byte}`)
}
