import { aacRateOf } from './aac-rate.ts'
import { OPUS_PACKET_SECONDS_MAX } from './opus-packet.ts'
import type { SoundFile } from './sound-window.ts'

/** Of the tables of a film of many hours. */
const INDEX_BYTES_MAX = 32 * 1024 * 1024
const ENTERED: ReadonlySet<string> = new Set([
  'moov',
  'trak',
  'mdia',
  'minf',
  'stbl',
  'edts',
  'mvex',
  'moof',
  'traf',
])

interface Found {
  /** What the headers say of the length. */
  said: number
  movieScale: number
  /** Of the track that is read; undefined until its handler was. */
  isSound: boolean | undefined
  /** Of one sample of the track that is read. */
  sampleSeconds: number | undefined
  /** Of the tracks of sound that were read. */
  sampleSecondsMax: number
  seconds: number
  fragmentSamples: number
}

/**
 * The most seconds of an MP4 with AAC or Opus: those of its samples, or what its headers say. Infinite
 * for other codecs, and where the tables are not as they should be. Not guaranteed: a sample that holds
 * more than one frame, which no encoder writes.
 */
export async function mp4Seconds(file: SoundFile, start: number): Promise<number> {
  const found: Found = {
    said: 0,
    movieScale: 0,
    isSound: undefined,
    sampleSeconds: undefined,
    sampleSecondsMax: 0,
    seconds: 0,
    fragmentSamples: 0,
  }
  const head = Buffer.alloc(16)
  for (let at = start; at < file.bytes;) {
    const headBytes = await file.readInto(head, at)
    const box = readBox(head.subarray(0, headBytes), file.bytes - at)
    if (!box) return Infinity
    if (box.name === 'moov' || box.name === 'moof') {
      if (box.length > INDEX_BYTES_MAX) return Infinity
      const index = Buffer.allocUnsafeSlow(box.length)
      if ((await file.readInto(index, at)) < box.length) return Infinity
      if (!readBoxes(index, found)) return Infinity
    }
    at += box.length
  }
  if (found.sampleSecondsMax === 0) return Infinity
  const fragments = found.fragmentSamples * found.sampleSecondsMax
  return Math.max(found.said, found.seconds + fragments)
}

interface Box {
  readonly name: string
  readonly length: number
  readonly headerBytes: number
}

function readBox(head: Buffer, bytesLeft: number): Box | undefined {
  if (head.length < 8) return undefined
  const short = head.readUInt32BE(0)
  if (short === 1 && head.length < 16) return undefined
  const length = short === 0 ? bytesLeft : short === 1 ? Number(head.readBigUInt64BE(8)) : short
  const headerBytes = short === 1 ? 16 : 8
  if (length < headerBytes || length > bytesLeft) return undefined
  return { name: head.toString('latin1', 4, 8), length, headerBytes }
}

/** False where they are not sound. */
function readBoxes(boxes: Buffer, found: Found): boolean {
  for (let at = 0; at < boxes.length;) {
    const rest = boxes.subarray(at)
    const box = readBox(rest, rest.length)
    if (!box) return false
    const body = rest.subarray(box.headerBytes, box.length)
    if (box.name === 'trak') {
      found.isSound = undefined
      found.sampleSeconds = undefined
    }
    if (ENTERED.has(box.name) ? !readBoxes(body, found) : !readLeaf(box.name, body, found))
      return false
    at += box.length
  }
  return true
}

function readLeaf(name: string, body: Buffer, found: Found): boolean {
  const atLeast = LEAF_BYTES[name]
  if (atLeast === undefined) return true
  if (body.length < atLeast) return false
  // QuickTime has a second one, for the data.
  if (name === 'hdlr') found.isSound ||= body.toString('latin1', 8, 12) === 'soun'
  else if (name === 'mvhd' || name === 'mdhd') {
    const { scale, duration } = readTimes(body)
    if (name === 'mvhd') found.movieScale = scale
    found.said = Math.max(found.said, duration / scale)
  } else if (name === 'mehd') {
    if (body[0] === 1 && body.length < 12) return false
    const duration = body[0] === 1 ? Number(body.readBigUInt64BE(4)) : body.readUInt32BE(4)
    found.said = Math.max(found.said, duration / found.movieScale)
  } else if (name === 'trun') found.fragmentSamples += body.readUInt32BE(4)
  else if (name === 'stsd' && found.isSound !== false) {
    if (found.isSound === undefined) return false
    const seconds = sampleSecondsOf(body)
    if (seconds === undefined) return false
    found.sampleSeconds = seconds
    found.sampleSecondsMax = Math.max(found.sampleSecondsMax, seconds)
  } else if ((name === 'stsz' || name === 'stz2') && found.isSound) {
    if (found.sampleSeconds === undefined) return false
    found.seconds += body.readUInt32BE(8) * found.sampleSeconds
  }
  return !Number.isNaN(found.said)
}

/** The fewest bytes of what is read of each. */
const LEAF_BYTES: Readonly<Record<string, number>> = {
  hdlr: 12,
  mvhd: 20,
  mdhd: 20,
  mehd: 8,
  trun: 8,
  stsd: 24,
  stsz: 12,
  stz2: 12,
}
const UNKNOWN = 0xffff_ffff

function readTimes(body: Buffer): { scale: number; duration: number } {
  if (body[0] !== 1) {
    const duration = body.readUInt32BE(16)
    return { scale: body.readUInt32BE(12), duration: duration === UNKNOWN ? 0 : duration }
  }
  // A body too short for it is one of no length that anything could say.
  if (body.length < 32) return { scale: 1, duration: Infinity }
  return { scale: body.readUInt32BE(20), duration: Number(body.readBigUInt64BE(24)) }
}

/** Undefined where it is not known of the codec. */
function sampleSecondsOf(descriptions: Buffer): number | undefined {
  if (descriptions.readUInt32BE(4) !== 1) return undefined
  const codec = descriptions.toString('latin1', 12, 16)
  if (codec === 'Opus') return OPUS_PACKET_SECONDS_MAX
  const rate = codec === 'mp4a' ? aacRateOf(descriptions) : undefined
  return rate === undefined ? undefined : 1_024 / rate
}
