import { once } from 'node:events'
import { crc32, createDeflate } from 'node:zlib'
import { sha256 } from '../../platform/lib/ids.ts'
import type { ImageSize } from './read-image-request.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const BITS_PER_CHANNEL = 8
const COLOUR_TYPE_RGB = 2
/** Lines are passed to the compressor in portions: one by one, the switches between threads would dominate. */
const PORTION_BYTES = 262_144

/**
 * Encodes a PNG (ISO/IEC 15948) with three bytes per pixel. Each line starts with its filter byte. The compression runs
 * in the thread pool, so the event loop stays free.
 */
async function encodePng(size: ImageSize, lines: Iterable<Buffer>): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size.width, 0)
  header.writeUInt32BE(size.height, 4)
  header.set([BITS_PER_CHANNEL, COLOUR_TYPE_RGB], 8)
  return Buffer.concat([
    SIGNATURE,
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', await deflate(lines)),
    encodeChunk('IEND', Buffer.alloc(0)),
  ])
}

async function deflate(lines: Iterable<Buffer>): Promise<Buffer> {
  const compressor = createDeflate({ chunkSize: PORTION_BYTES })
  const parts: Buffer[] = []
  compressor.on('data', (part: Buffer) => parts.push(part))
  const ended = once(compressor, 'end')
  let portion: Buffer[] = []
  let bytes = 0
  for (const line of lines) {
    portion.push(line)
    bytes += line.length
    if (bytes < PORTION_BYTES) continue
    // The pixels of a large picture are fifty times its compressed size, so they must not accumulate.
    if (!compressor.write(Buffer.concat(portion))) await once(compressor, 'drain')
    portion = []
    bytes = 0
  }
  compressor.end(Buffer.concat(portion))
  await ended
  return Buffer.concat(parts)
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** Returns the colours of a picture as 24 hexadecimal digits; with the size, they are enough to draw it again. */
export function chooseColours(prompt: string, index: number): string {
  return sha256(`${index} ${prompt}`).toString('hex', 0, COLOURS_BYTES)
}

/**
 * Draws a PNG whose colours change from left to right and from top to bottom. A pixel is the sum of a value for its
 * column and a value for its line. Each line after the first therefore differs from the one above by the same amount in
 * all its pixels, and there are few different lines: with the PNG filter "up", a picture of any size consists of a
 * handful of buffers.
 */
export function drawGradient(size: ImageSize, colours: string): Promise<Buffer> {
  return encodePng(size, drawLines(size, Buffer.from(colours, 'hex')))
}

const CHANNELS = 3
/** The left, right, top and bottom colours, with three channels each. */
const COLOURS_BYTES = 4 * CHANNELS
const FILTER_NONE = 0
const FILTER_UP = 2

function* drawLines({ width, height }: ImageSize, colours: Buffer): Generator<Buffer> {
  const [left, right, top, bottom] = [0, 1, 2, 3].map((side) =>
    // Halved, so that the sum of the column's and the line's value fits in a byte.
    Array.from(colours.subarray(side * CHANNELS, (side + 1) * CHANNELS), (byte) => byte >> 1),
  ) as [number[], number[], number[], number[]]

  let above = mix(top, bottom, 0)
  const first = Buffer.alloc(1 + width * CHANNELS, FILTER_NONE)
  for (let x = 0; x < width; x++) {
    const column = mix(left, right, x / (width - 1))
    first.set(
      column.map((part, channel) => part + (above[channel] as number)),
      1 + x * CHANNELS,
    )
  }
  yield first

  const drawn = new Map<string, Buffer>()
  for (let y = 1; y < height; y++) {
    const current = mix(top, bottom, y / (height - 1))
    const steps = current.map((part, channel) => (part - (above[channel] as number)) & 0xff)
    above = current
    const key = steps.join()
    let line = drawn.get(key)
    if (line === undefined) {
      line = Buffer.alloc(1 + width * CHANNELS).fill(Buffer.from(steps), 1)
      line[0] = FILTER_UP
      drawn.set(key, line)
    }
    yield line
  }
}

function mix(from: readonly number[], to: readonly number[], share: number): number[] {
  return from.map((part, channel) => Math.round(part + ((to[channel] as number) - part) * share))
}
