import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BlockJoiner, comesInTooManyParts } from '../../platform/lib/block-joiner.ts'

/** Time for the client to read the answer. */
const CLOSE_MS = 10_000

/** Says that a body came in too many small parts; the connection is not read any more, and is closed soon. */
export const TOO_MANY_PARTS = 'too-many-parts'

/**
 * A request whose body comes in blocks, at most one for each read of its connection. The platform passes on each chunk
 * of the transfer coding, however small, as a buffer of its own, and counts only bytes where it bounds what waits: 64 KB
 * in chunks of one byte took 15 MB.
 */
export class BoundedRequest extends IncomingMessage {
  #joiner: BlockJoiner | undefined
  #parts = 0
  #bytes = 0
  #isFlushDue = false
  #isRefused = false

  /**
   * What follows on a connection that was destroyed is not parsed: 74 KB in one write are 2,000 requests, whose objects
   * filled the heap when 400 connections sent them. The parser stops only behind an upgrade; a platform that ignores
   * this field parses on, and every such request is dropped.
   */
  constructor(socket: Socket) {
    super(socket)
    if (socket.destroyed) Object.defineProperty(this, 'upgrade', { get: () => true, set() {} })
  }

  override push(part: Buffer | null): boolean {
    // The end of a refused body must not look like that of a whole one.
    if (this.#isRefused) return false
    if (part === null) {
      this.#flush()
      return super.push(null)
    }
    this.#parts += 1
    this.#bytes += part.length
    // Most bodies have no other part.
    if (this.#parts === 1) return super.push(part)
    if (comesInTooManyParts(this.#parts, this.#bytes)) return this.#refuse()
    this.#joiner ??= new BlockJoiner()
    this.#joiner.add(part, (block) => void super.push(block))
    if (!this.#isFlushDue) {
      this.#isFlushDue = true
      setImmediate(() => this.#flush())
    }
    return this.readableLength < this.readableHighWaterMark
  }

  /** What is ignored after a refusal is not asked for either. */
  // eslint-disable-next-line no-underscore-dangle -- the name of the platform
  override _read(size: number): void {
    // eslint-disable-next-line no-underscore-dangle -- as above
    if (!this.#isRefused) super._read(size)
  }

  #flush(): void {
    this.#isFlushDue = false
    this.#joiner?.flush((block) => void super.push(block))
  }

  /** The connection stays open for a while: closed at once, it would be opened again at once. */
  #refuse(): false {
    this.#isRefused = true
    const { socket } = this
    const timer = setTimeout(() => socket.destroy(), CLOSE_MS)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
    this.emit(TOO_MANY_PARTS)
    return false
  }
}
