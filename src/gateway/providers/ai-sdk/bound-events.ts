import { UnreadableAnswer } from '../read-failure.ts'

/** Takes the data of an answer as it arrives; throws `UnreadableAnswer` when an event of a stream is too long. */
export type BoundEvents = (chunk: Buffer) => void

/** The end of a line and the empty line after it, which ends an event. */
const EVENT_ENDS = ['\n\n', '\n\r\n']
const END_BYTES_MAX = 3
/** In Amazon's binary format the first bytes of an event are its length. */
const LENGTH_BYTES = 4

/** Undefined for answers that are not streams. The packages collect an event until it is whole, without a limit. */
export function boundEvents(contentType: string, bytesMax: number): BoundEvents | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return boundLines(bytesMax)
  if (/^application\/vnd\.amazon\.eventstream\b/i.test(contentType)) return boundFrames(bytesMax)
  return undefined
}

function boundLines(bytesMax: number): BoundEvents {
  let eventBytes = 0
  /** The end of an event may be cut. */
  let before: Buffer = Buffer.alloc(0)
  return (chunk) => {
    const bytes = Buffer.concat([before, chunk])
    const end = Math.max(...EVENT_ENDS.map((text) => endOfLast(bytes, text)))
    eventBytes = end === -1 ? eventBytes + chunk.length : bytes.length - end
    if (eventBytes > bytesMax) throw tooLong()
    before = bytes.subarray(Math.max(0, bytes.length - END_BYTES_MAX + 1))
  }
}

function endOfLast(bytes: Buffer, text: string): number {
  const at = bytes.lastIndexOf(text)
  return at === -1 ? -1 : at + text.length
}

function boundFrames(bytesMax: number): BoundEvents {
  let frameBytesLeft = 0
  let length = 0
  let lengthBytes = 0
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (frameBytesLeft > 0) {
        const taken = Math.min(frameBytesLeft, chunk.length - at)
        frameBytesLeft -= taken
        at += taken
        continue
      }
      length = length * 256 + (chunk[at] as number)
      at += 1
      lengthBytes += 1
      if (lengthBytes < LENGTH_BYTES) continue
      if (length > bytesMax) throw tooLong()
      frameBytesLeft = length - LENGTH_BYTES
      length = 0
      lengthBytes = 0
    }
  }
}

function tooLong(): UnreadableAnswer {
  return new UnreadableAnswer('an event of the stream is too long')
}
