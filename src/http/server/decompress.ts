/** Compressed bodies of requests: which codings are read, and how much of them. */
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type InflateRaw,
  type ZstdDecompress,
} from 'node:zlib'
import type { IncomingHttpHeaders } from 'node:http'
import { createTurns } from '../../platform/admission/turn.ts'

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd'

type Decompressor = Gunzip | Inflate | InflateRaw | BrotliDecompress | ZstdDecompress

/** Bytes that a decompressor produces at a time; each part is counted before the next one is made. */
const PART_BYTES = 64 * 1024
/** What every decoder must be able to keep (RFC 8878): 8 MB. A frame could ask for gigabytes. */
const ZSTD_WINDOW_LOG_MAX = 23
/**
 * A decompressor keeps up to 16 MB, so only a few bodies of the node are decompressed at once. A few bytes may take a
 * tenth of a second, so each owner has its own pace, that of large bodies.
 */
const turns = createTurns({ atOnceMax: 2, waitingMax: 500, ownPerSecond: 16 * 1024 * 1024 })

class BytesBehind extends Error {
  override readonly message = 'bytes follow behind the compressed body'
}

/** Returns the coding of a body; undefined if it has none, `unknown` for one that is not read. */
export function codingOf(headers: IncomingHttpHeaders): Coding | 'unknown' | undefined {
  const named = headers['content-encoding']?.trim().toLowerCase()
  if (named === undefined || named === '' || named === 'identity') return undefined
  if (named === 'x-gzip') return 'gzip'
  return named === 'gzip' || named === 'deflate' || named === 'br' || named === 'zstd'
    ? named
    : 'unknown'
}

/**
 * Resolves to the decompressed body; undefined if too many bodies of the owner wait for their turn. `mayKeep` is asked with
 * the size so far before a part is kept; it throws to end the work, so a bomb takes no more memory than a body may have.
 */
export async function decompress(
  body: Buffer,
  coding: Coding,
  owner: string,
  mayKeep: (bytes: number) => void,
): Promise<Buffer | undefined> {
  const turn = await turns.take(owner)
  if (!turn) return undefined
  let bytes = 0
  let decompressor: Decompressor | undefined
  try {
    mayKeep(bytes)
    // Inside the try: without memory the constructor throws, and the turn must still end.
    decompressor = createDecompressor(body, coding)
    const parts: Buffer[] = []
    decompressor.end(body)
    for await (const part of decompressor as AsyncIterable<Buffer>) {
      bytes += part.length
      mayKeep(bytes)
      parts.push(part)
    }
    // A decompressor stops after the first frame or stream, and would leave the rest of a request out. Gunzip joins
    // members, refuses other bytes, and leaves zeros out, which pad such files.
    if (coding !== 'gzip' && decompressor.bytesWritten < body.length) throw new BytesBehind()
    return Buffer.concat(parts, bytes)
  } finally {
    decompressor?.destroy()
    turn.amount = bytes
    turn[Symbol.dispose]()
  }
}

function createDecompressor(body: Buffer, coding: Coding): Decompressor {
  const options = { chunkSize: PART_BYTES }
  switch (coding) {
    case 'gzip':
      return createGunzip(options)
    case 'br':
      return createBrotliDecompress(options)
    case 'zstd':
      return createZstdDecompress({
        ...options,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      })
    case 'deflate':
      // Some clients send it without the header of zlib, whose first byte names the method 8.
      return ((body[0] ?? 0) & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)
  }
}
