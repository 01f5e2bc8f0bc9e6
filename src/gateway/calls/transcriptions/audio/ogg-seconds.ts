import type { AudioWindow } from './audio-window.ts'

/** The seconds of the longest packet; decoders refuse a packet that declares more. */
export const OPUS_PACKET_SECONDS_MAX = 0.12

const SILK_MS = [10, 20, 40, 60]
const HYBRID_MS = [10, 20]
const CELT_MS = [2.5, 5, 10, 20]

/**
 * Returns the seconds of a packet by its first two bytes (RFC 6716, section 3.1); the maximum if the bytes are missing.
 */
export function opusPacketSeconds(first: number | undefined, second: number | undefined): number {
  if (first === undefined) return OPUS_PACKET_SECONDS_MAX
  const config = first >> 3
  const frameMs =
    config < 12 ? SILK_MS[config & 3] : config < 16 ? HYBRID_MS[config & 1] : CELT_MS[config & 3]
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : second === undefined ? 48 : second & 0x3f
  return Math.min(((frameMs as number) * frames) / 1_000, OPUS_PACKET_SECONDS_MAX)
}

const HEADER_BYTES = 27
const PAGE_BYTES_MAX = HEADER_BYTES + 255 + 255 * 255
const CONTINUED = 1
const BEGIN_OF_STREAM = 2
const FLAGS_MAX = 7
const OPUS_RATE = 48_000

/**
 * Returns the most seconds of an Ogg file with Opus: the sum of its packets, or its largest granule position if that is
 * longer. Infinite if a page is incomplete or corrupt, because a decoder would look for the next page inside it.
 */
export async function oggSeconds(file: AudioWindow): Promise<number> {
  let packetSeconds = 0
  let position = 0n
  /** The serial numbers of the streams that began as Opus. */
  const begun = new Set<number>()
  for (let at = 0; at < file.bytes;) {
    const page = await file.read(at, PAGE_BYTES_MAX)
    const length = pageBytes(page)
    if (length === undefined || checksum(page, length) !== page.readUInt32LE(22)) return Infinity
    const flags = page[5] as number
    // Decoders take a file with unknown flags for one of another format.
    if (flags > FLAGS_MAX) return Infinity
    const stream = page.readUInt32LE(14)
    if ((flags & BEGIN_OF_STREAM) !== 0 && bodyOf(page).startsWith('OpusHead')) begun.add(stream)
    else if ((flags & BEGIN_OF_STREAM) !== 0 || !begun.has(stream)) return Infinity
    const granule = page.readBigInt64LE(6)
    if (granule > position) position = granule
    packetSeconds += secondsOfPage(page, (flags & CONTINUED) !== 0)
    at += length
  }
  return Math.max(packetSeconds, Number(position) / OPUS_RATE)
}

/** The size of the page at the beginning of these bytes; undefined if there is no complete page. */
function pageBytes(page: Buffer): number | undefined {
  if (page.length < HEADER_BYTES || page.toString('latin1', 0, 5) !== 'OggS\0') return undefined
  const segments = page[26] as number
  let length = HEADER_BYTES + segments
  for (let index = 0; index < segments; index++) length += page[HEADER_BYTES + index] ?? 0
  return length <= page.length ? length : undefined
}

function bodyOf(page: Buffer): string {
  const begin = HEADER_BYTES + (page[26] as number)
  return page.toString('latin1', begin, begin + 8)
}

/** The seconds of the packets that begin on this page. */
function secondsOfPage(page: Buffer, isContinued: boolean): number {
  const segments = page[26] as number
  let at = HEADER_BYTES + segments
  let seconds = 0
  let isBegin = !isContinued
  for (let index = 0; index < segments; index++) {
    const length = page[HEADER_BYTES + index] as number
    if (isBegin)
      seconds += opusPacketSeconds(
        length > 0 ? page[at] : undefined,
        length > 1 ? page[at + 1] : undefined,
      )
    isBegin = length < 255
    at += length
  }
  return seconds
}

/** CRC-32 as Ogg defines it: polynomial 0x04c11db7, initial value 0, no bit reflection. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24
  for (let bit = 0; bit < 8; bit++) rest = rest < 0 ? (rest << 1) ^ 0x04c11db7 : rest << 1
  return rest >>> 0
})

/** Returns the checksum of a page, computed with zeros in place of its checksum field. */
export function checksum(page: Buffer, length: number): number {
  let sum = 0
  for (let at = 0; at < length; at++) {
    const byte = at >= 22 && at < 26 ? 0 : (page[at] as number)
    sum = (sum << 8) ^ (TABLE[((sum >>> 24) ^ byte) & 0xff] as number)
  }
  return sum >>> 0
}
