/**
 * Reads HTTP/1.1 responses, one after the other, from bytes that may be cut anywhere (RFC 9112). It is strict: a response
 * whose length could be read in two ways is refused, because the rest of it would be read as the next customer's answer.
 */

import { comesInTooManyParts } from './block-joiner.ts'

export type ResponseHeaders = Record<string, string | string[]>

export interface ResponseHandler {
  /** Not called for responses of 1xx, which precede the final one. */
  head(status: number, headers: ResponseHeaders): void
  /** A part of the body. The bytes are the handler's to keep. */
  data(bytes: Buffer): void
  /** `canReuse`: the connection may carry another request. */
  end(canReuse: boolean): void
}

/** Thrown when the upstream does not speak HTTP/1.1, or broke off. */
export class BadResponse extends Error {
  readonly code = 'BAD_RESPONSE'
  constructor(message: string) {
    super(message)
    this.name = 'BadResponse'
  }
}

const HEAD_BYTES_MAX = 64 * 1024
/** The most bytes of one chunk's extension, and of all trailers, which are ignored. */
const IGNORED_BYTES_MAX = 16 * 1024
const INTERIM_RESPONSES_MAX = 16
/** 2^52: sizes stay exact. */
const HEX_DIGITS_MAX = 13

const CR = 13
const LF = 10
const END_OF_HEAD = '\r\n\r\n'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A value with one of them alone is malformed. */
const LINE_END = /[\r\n]/
const DECIMAL = /^\d{1,15}$/

type State =
  | 'no_request'
  | 'head'
  | 'length'
  | 'until_close'
  | 'chunk_size'
  | 'chunk_extension'
  | 'chunk_size_end'
  | 'chunk_data'
  | 'chunk_data_end'
  | 'chunk_data_end_lf'
  | 'trailers'
  | 'stopped'

export class ResponseReader {
  readonly #handler: ResponseHandler
  #state: State = 'no_request'
  /** The beginning of a head that was cut. */
  #headParts: Buffer[] = []
  #headBytes = 0
  #interimResponses = 0
  #keepsAlive = false
  /** Of the body so far. */
  #parts = 0
  #bytes = 0
  /** Of the body, or of the current chunk. */
  #bytesLeft = 0
  #hexDigits = 0
  #ignoredBytes = 0
  #isLineEmpty = true

  constructor(handler: ResponseHandler) {
    this.#handler = handler
  }

  /** A request was sent; its response follows. */
  expect(): void {
    this.#state = 'head'
    this.#interimResponses = 0
    this.#parts = 0
    this.#bytes = 0
  }

  /** Reads nothing more. */
  stop(): void {
    this.#state = 'stopped'
  }

  /** Throws `BadResponse`. */
  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && this.#state !== 'stopped') {
      switch (this.#state) {
        case 'head':
          at = this.#readHead(bytes, at)
          break
        case 'length':
        case 'chunk_data':
          at = this.#readData(bytes, at)
          break
        case 'until_close':
          this.#pass(bytes.subarray(at))
          at = bytes.length
          break
        case 'no_request':
          throw new BadResponse('data without a request')
        default:
          this.#readFraming(bytes[at] as number)
          at += 1
      }
      if (this.#isComplete()) this.#end(at === bytes.length)
    }
  }

  /** The upstream sends nothing more. Throws `BadResponse` if a response is incomplete. */
  close(): void {
    const state = this.#state
    this.#state = 'stopped'
    if (state === 'until_close') this.#handler.end(false)
    else if (state !== 'no_request' && state !== 'stopped')
      throw new BadResponse('the connection was closed')
  }

  #readHead(bytes: Buffer, at: number): number {
    if (this.#headParts.length === 0) {
      const end = bytes.indexOf(END_OF_HEAD, at)
      if (end !== -1 && end - at <= HEAD_BYTES_MAX) {
        this.#takeHead(bytes.toString('latin1', at, end))
        return end + END_OF_HEAD.length
      }
    }
    return this.#readCutHead(bytes, at)
  }

  /** Searches the end across at most the last three bytes of the parts before. */
  #readCutHead(bytes: Buffer, at: number): number {
    const before = Buffer.concat(this.#headParts.slice(-3)).subarray(-3)
    const joined = Buffer.concat([before, bytes.subarray(at)])
    const found = joined.indexOf(END_OF_HEAD)
    const end = found === -1 ? bytes.length : at + found + END_OF_HEAD.length - before.length
    const part = bytes.subarray(at, end)
    this.#headParts.push(part)
    this.#headBytes += part.length
    if (this.#headBytes > HEAD_BYTES_MAX) throw new BadResponse('the head is too long')
    if (found === -1) return end
    const head = Buffer.concat(this.#headParts)
    this.#headParts = []
    this.#headBytes = 0
    this.#takeHead(head.toString('latin1', 0, head.length - END_OF_HEAD.length))
    return end
  }

  #takeHead(text: string): void {
    const [first = '', ...lines] = text.split('\r\n')
    const [, minor, digits] = STATUS_LINE.exec(first) ?? []
    if (digits === undefined) throw new BadResponse('the status line is malformed')
    const status = Number(digits)
    const headers = readHeaders(lines)
    if (status < 200) return this.#takeInterim(status)
    const connection = oneOf(headers, 'connection').toLowerCase()
    this.#keepsAlive = minor === '1' && !connection.includes('close')
    this.#frame(status, minor === '1', headers)
    this.#handler.head(status, headers)
  }

  #takeInterim(status: number): void {
    if (status === 101) throw new BadResponse('the protocol changed')
    this.#interimResponses += 1
    if (this.#interimResponses > INTERIM_RESPONSES_MAX)
      throw new BadResponse('too many interim responses')
  }

  /** RFC 9112, section 6.3. */
  #frame(status: number, isVersion11: boolean, headers: ResponseHeaders): void {
    const coding = headers['transfer-encoding']
    const length = headers['content-length']
    this.#bytesLeft = 0
    if (coding !== undefined) {
      if (length !== undefined || !isVersion11 || oneOf(headers, 'transfer-encoding') !== 'chunked')
        throw new BadResponse('the length of the body is ambiguous')
      this.#beginChunk()
    } else if (length !== undefined) {
      if (typeof length !== 'string' || !DECIMAL.test(length))
        throw new BadResponse('the length of the body is ambiguous')
      this.#state = 'length'
      this.#bytesLeft = Number(length)
    } else this.#state = 'until_close'
    if (status === 204 || status === 304) {
      this.#state = 'length'
      this.#bytesLeft = 0
    }
  }

  #beginChunk(): void {
    this.#state = 'chunk_size'
    this.#bytesLeft = 0
    this.#hexDigits = 0
    this.#ignoredBytes = 0
    this.#isLineEmpty = true
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#bytesLeft, bytes.length)
    this.#bytesLeft -= end - at
    if (this.#bytesLeft === 0 && this.#state === 'chunk_data') this.#state = 'chunk_data_end'
    if (end > at) this.#pass(bytes.subarray(at, end))
    return end
  }

  #pass(part: Buffer): void {
    this.#parts += 1
    this.#bytes += part.length
    if (comesInTooManyParts(this.#parts, this.#bytes))
      throw new BadResponse('the body comes in too many small parts')
    this.#handler.data(part)
  }

  /** One byte between the data of two chunks. */
  #readFraming(byte: number): void {
    switch (this.#state) {
      case 'chunk_size':
        return this.#readSize(byte)
      case 'chunk_extension':
        this.#countIgnored()
        if (byte === CR) this.#state = 'chunk_size_end'
        return
      case 'chunk_size_end':
        requireByte(byte, LF)
        this.#state = this.#bytesLeft > 0 ? 'chunk_data' : 'trailers'
        return
      case 'chunk_data_end':
        requireByte(byte, CR)
        this.#state = 'chunk_data_end_lf'
        return
      case 'chunk_data_end_lf':
        requireByte(byte, LF)
        return this.#beginChunk()
      default:
        this.#readTrailer(byte)
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      this.#hexDigits += 1
      if (this.#hexDigits > HEX_DIGITS_MAX) throw new BadResponse('a chunk is too long')
      this.#bytesLeft = this.#bytesLeft * 16 + digit
      return
    }
    if (this.#hexDigits === 0) throw new BadResponse('a chunk has no size')
    if (byte === CR) this.#state = 'chunk_size_end'
    else if (byte === 0x3b || byte === 0x20 || byte === 0x09) this.#state = 'chunk_extension'
    else throw new BadResponse('the size of a chunk is malformed')
  }

  /** An empty line ends the trailers; `#end` follows, because no bytes are left. */
  #readTrailer(byte: number): void {
    this.#countIgnored()
    if (byte === LF) {
      if (this.#isLineEmpty) {
        this.#state = 'length'
        this.#bytesLeft = 0
      }
      this.#isLineEmpty = true
    } else if (byte !== CR) this.#isLineEmpty = false
  }

  #countIgnored(): void {
    this.#ignoredBytes += 1
    if (this.#ignoredBytes > IGNORED_BYTES_MAX) throw new BadResponse('the framing is too long')
  }

  #isComplete(): boolean {
    return this.#state === 'length' && this.#bytesLeft === 0
  }

  /** Bytes after the end belong to no request, so the connection is not used again. */
  #end(isLastByte: boolean): void {
    this.#state = isLastByte && this.#keepsAlive ? 'no_request' : 'stopped'
    this.#handler.end(this.#state === 'no_request')
  }
}

/** Throws `BadResponse`. Names are in lower case; a name that occurs again has a list of values. */
function readHeaders(lines: readonly string[]): ResponseHeaders {
  const headers = Object.create(null) as ResponseHeaders
  for (const line of lines) {
    const colon = line.indexOf(':')
    const field = line.slice(0, Math.max(colon, 0))
    if (!FIELD_NAME.test(field)) throw new BadResponse('a header is malformed')
    const name = field.toLowerCase()
    const value = withoutSpaces(line, colon + 1)
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (typeof before === 'string') headers[name] = [before, value]
    else before.push(value)
  }
  return headers
}

/**
 * Returns a value without the spaces at its ends. A pattern would take the square of the time for spaces within it: 4 s
 * for a head of them. Throws a `BadResponse` for line ends within the value.
 */
function withoutSpaces(line: string, from: number): string {
  let start = from
  let end = line.length
  while (start < end && isSpace(line.charCodeAt(start))) start += 1
  while (end > start && isSpace(line.charCodeAt(end - 1))) end -= 1
  const value = line.slice(start, end)
  if (LINE_END.test(value)) throw new BadResponse('a header is malformed')
  return value
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** All values of a header as one list, as RFC 9110 combines them. */
function oneOf(headers: ResponseHeaders, name: string): string {
  const value = headers[name] ?? ''
  return typeof value === 'string' ? value : value.join(', ')
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function requireByte(byte: number, expected: number): void {
  if (byte !== expected) throw new BadResponse('the end of a chunk is malformed')
}
