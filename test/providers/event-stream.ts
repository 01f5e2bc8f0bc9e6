/**
 * Frames of `application/vnd.amazon.eventstream`, encoded as Amazon's documentation describes: two lengths
 * and their checksum, headers, payload, and a checksum of the whole frame; numbers are big-endian.
 */
import { crc32 } from 'node:zlib'

const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
const HEADER_VALUE_IS_TEXT = 7

/** One event under the name that Bedrock gives it, from `{"<name>": <payload>}`. */
export function eventFrame(event: string): Buffer {
  const [[name, payload] = ['', {}]] = Object.entries(JSON.parse(event) as object)
  return frame(
    {
      ':event-type': name,
      ':content-type': 'application/json',
      ':message-type': 'event',
    },
    JSON.stringify(payload),
  )
}

/** The exception that Bedrock sends instead of an event when it fails after its 200. */
export function exceptionFrame(name: string, payload: unknown): Buffer {
  return frame(
    {
      ':exception-type': name,
      ':content-type': 'application/json',
      ':message-type': 'exception',
    },
    JSON.stringify(payload),
  )
}

function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(headerBytes))
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(PRELUDE_BYTES)
  prelude.writeUInt32BE(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, head, body])
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32BE(crc32(message))
  return Buffer.concat([message, checksum])
}

function headerBytes([name, value]: [string, string]): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([HEADER_VALUE_IS_TEXT]),
    length,
    Buffer.from(value),
  ])
}
