import { once } from 'node:events'
import { crc32, createDeflate } from 'node:zlib'
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
export async function encodePng(size: ImageSize, lines: Iterable<Buffer>): Promise<Buffer> {
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
