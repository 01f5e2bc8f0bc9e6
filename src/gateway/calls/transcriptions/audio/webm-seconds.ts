import { opusPacketSeconds } from './ogg-seconds.ts'
import type { AudioWindow } from './audio-window.ts'

const EBML = 0x1a45dfa3
const EBML_BYTES_MAX = 1_024
const DOCUMENT_TYPE = /webm|matroska/
const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TRACKS = 0x1654ae6b
const TRACK = 0xae
const CLUSTER = 0x1f43b675
const BLOCK_GROUP = 0xa0
/** Container elements, whose children are read as if they were on the same level. */
const ENTERED: ReadonlySet<number> = new Set([SEGMENT, INFO, TRACKS, TRACK, CLUSTER, BLOCK_GROUP])
const TIMESTAMP_SCALE = 0x2ad7b1
const DURATION = 0x4489
const CODEC = 0x86
const ENCODINGS = 0x6d80
const TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const BLOCK = 0xa1
const LACING = 0x06
/** Two days in packets of 20 ms are fewer. Each takes time, and may have as few as two bytes. */
const ELEMENTS_MAX = 10_000_000

interface Element {
  readonly id: number
  /** Undefined if unknown: the element then ends where the next element of its level begins. */
  readonly length: number | undefined
  readonly headerBytes: number
}

/**
 * Returns the most seconds of a WebM file with Opus: the sum of its packets, the end of its last packet, or its
 * declared duration. Infinite for other codecs and for files unlike those that browsers write.
 */
export async function webmSeconds(file: AudioWindow): Promise<number> {
  let nanosPerTick = 1_000_000
  let declaredTicks = 0
  let packetSeconds = 0
  let clusterTick = 0
  let lastTick = 0
  let hasOpus = false
  let elements = 0
  for (let at = 0; at < file.bytes;) {
    const element = readElement(file.peek(at, 12) ?? (await file.read(at, 12)))
    if (!element || ++elements > ELEMENTS_MAX) return Infinity
    at += element.headerBytes
    if (ENTERED.has(element.id)) continue
    const { id, length } = element
    // The recording was cut off, or the file is malformed.
    if (length === undefined || at + length > file.bytes) return Infinity
    if (id === EBML && !isHeader(await file.read(at, Math.min(length, EBML_BYTES_MAX + 1))))
      return Infinity
    const valueBytes = Math.min(length, 64)
    const value = file.peek(at, valueBytes) ?? (await file.read(at, valueBytes))
    if (id === TIMESTAMP_SCALE) nanosPerTick = readUint(value)
    else if (id === DURATION) declaredTicks = readFloat(value)
    else if (id === TIMESTAMP) clusterTick = readUint(value)
    else if (id === ENCODINGS) return Infinity
    else if (id === CODEC) {
      const codec = value.toString('latin1')
      if (codec === 'A_OPUS') hasOpus = true
      else if (!codec.startsWith('V_')) return Infinity
    } else if (id === SIMPLE_BLOCK || id === BLOCK) {
      // Only the first 127 tracks are accepted: their number takes one byte.
      if (value.length < 4 || value[0] === undefined || value[0] < 0x80) return Infinity
      if (((value[3] as number) & LACING) !== 0) return Infinity
      packetSeconds += opusPacketSeconds(value[4], value[5])
      lastTick = Math.max(lastTick, clusterTick + value.readInt16BE(1))
    }
    at += length
  }
  const ticks = Math.max(lastTick, declaredTicks)
  return hasOpus ? Math.max(packetSeconds, (ticks * nanosPerTick) / 1e9 + 0.12) : Infinity
}

/** Decoders take a file with a longer header, or one of another type, for one of another format. */
function isHeader(value: Buffer): boolean {
  return value.length <= EBML_BYTES_MAX && DOCUMENT_TYPE.test(value.toString('latin1'))
}

function readElement(head: Buffer): Element | undefined {
  const idBytes = Math.clz32(head[0] ?? 0) - 23
  if (idBytes > 4 || head.length <= idBytes) return undefined
  const sizeBytes = Math.clz32(head[idBytes] as number) - 23
  const headerBytes = idBytes + sizeBytes
  if (sizeBytes > 8 || head.length < headerBytes) return undefined
  let length = (head[idBytes] as number) & (0xff >> sizeBytes)
  let isUnknown = length === 0xff >> sizeBytes
  for (let at = idBytes + 1; at < headerBytes; at++) {
    length = length * 256 + (head[at] as number)
    isUnknown &&= head[at] === 0xff
  }
  return {
    id: head.readUIntBE(0, idBytes),
    length: isUnknown ? undefined : length,
    headerBytes,
  }
}

function readUint(value: Buffer): number {
  return value.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** Infinite if the value is not a number. */
function readFloat(value: Buffer): number {
  const number =
    value.length === 4 ? value.readFloatBE() : value.length === 8 ? value.readDoubleBE() : Infinity
  return number >= 0 ? number : Infinity
}
