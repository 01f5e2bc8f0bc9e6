import { aacRateOf } from './aac-rate.ts'
import { OPUS_PACKET_SECONDS_MAX } from './opus-packet.ts'
import { openWindow, type AudioFile } from './audio-window.ts'

/** Brands of pictures: for decoders such a file may be one of another format. */
const PICTURES: ReadonlySet<string> = new Set(['jp2 ', 'jpx ', 'jxl '])
/** Enough for the tables of a film of many hours. */
const INDEX_BYTES_MAX = 32 * 1024 * 1024
/** A film of twelve hours in fragments of two seconds has 170,000. */
const BOXES_MAX = 250_000
/** The tables are six deep. */
const DEPTH_MAX = 16
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

/** The boxes that say how many samples there are, and how long each is. */
const TABLES: ReadonlySet<string> = new Set([
  'stsd',
  'stsz',
  'stz2',
  'trun',
  'mdhd',
  'mvhd',
  'mehd',
])

interface Found {
  /** The longest duration that the headers declare, in seconds. */
  declaredSeconds: number
  movieScale: number
  /** Whether the current track is audio; undefined before its handler box was read. */
  isAudio: boolean | undefined
  /** The length of one sample of the current track. */
  sampleSeconds: number | undefined
  /** The longest sample of all audio tracks so far. */
  sampleSecondsMax: number
  seconds: number
  fragmentSamples: number
  /** The tables of samples that were read, also those of other tracks. */
  tables: number
  /** Each takes time, and may have as few as eight bytes. */
  boxes: number
}

/**
 * The most seconds of an MP4 file with AAC or Opus: the sum of its samples, or the duration that its headers declare.
 * Infinite for other codecs, for malformed tables, and for tables in boxes that are not entered here: some decoders enter
 * more. Not guaranteed if a sample contains more than one frame; no
 * encoder writes such files.
 */
export async function mp4Seconds(file: AudioFile, start: number): Promise<number> {
  const found: Found = {
    declaredSeconds: 0,
    movieScale: 0,
    isAudio: undefined,
    sampleSeconds: undefined,
    sampleSecondsMax: 0,
    seconds: 0,
    fragmentSamples: 0,
    tables: 0,
    boxes: 0,
  }
  let tablesNamed = 0
  const heads = openWindow(file)
  for (let at = start; at < file.bytes;) {
    const head = heads.peek(at, 16) ?? (await heads.read(at, 16))
    const box = readBox(head, file.bytes - at)
    if (!box || ++found.boxes > BOXES_MAX) return Infinity
    if (box.name === 'ftyp' && PICTURES.has(head.toString('latin1', 8, 12))) return Infinity
    if (box.name === 'moov' || box.name === 'moof') {
      if (box.length > INDEX_BYTES_MAX) return Infinity
      const index = Buffer.allocUnsafeSlow(box.length)
      if ((await file.readInto(index, at)) < box.length) return Infinity
      if (!readBoxes(index, found)) return Infinity
      tablesNamed += countTables(index)
    }
    at += box.length
  }
  if (found.sampleSecondsMax === 0 || tablesNamed > found.tables) return Infinity
  const fragments = found.fragmentSamples * found.sampleSecondsMax
  return Math.max(found.declaredSeconds, found.seconds + fragments)
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

/** Reads nested boxes; returns false if they are malformed, too many or too deep. */
function readBoxes(boxes: Buffer, found: Found, depth = 0): boolean {
  if (depth > DEPTH_MAX) return false
  for (let at = 0; at < boxes.length;) {
    const rest = boxes.subarray(at)
    const box = readBox(rest, rest.length)
    if (!box || ++found.boxes > BOXES_MAX) return false
    const body = rest.subarray(box.headerBytes, box.length)
    if (box.name === 'trak') {
      found.isAudio = undefined
      found.sampleSeconds = undefined
    }
    if (
      ENTERED.has(box.name) ? !readBoxes(body, found, depth + 1) : !readLeaf(box.name, body, found)
    )
      return false
    at += box.length
  }
  return true
}

/** The places of the index that name a table, in whatever box. */
function countTables(index: Buffer): number {
  let count = 0
  for (const name of TABLES)
    for (let at = index.indexOf(name, 0, 'latin1'); at >= 0; count++)
      at = index.indexOf(name, at + 1, 'latin1')
  return count
}

function readLeaf(name: string, body: Buffer, found: Found): boolean {
  if (TABLES.has(name)) found.tables++
  const atLeast = LEAF_BYTES[name]
  if (atLeast === undefined) return true
  if (body.length < atLeast) return false
  // QuickTime adds a second handler box, for the data.
  if (name === 'hdlr') found.isAudio ||= body.toString('latin1', 8, 12) === 'soun'
  else if (name === 'mvhd' || name === 'mdhd') {
    const { scale, duration } = readTimes(body)
    if (name === 'mvhd') found.movieScale = scale
    found.declaredSeconds = Math.max(found.declaredSeconds, duration / scale)
  } else if (name === 'mehd') {
    if (body[0] === 1 && body.length < 12) return false
    const duration = body[0] === 1 ? Number(body.readBigUInt64BE(4)) : body.readUInt32BE(4)
    found.declaredSeconds = Math.max(found.declaredSeconds, duration / found.movieScale)
  } else if (name === 'trun') found.fragmentSamples += body.readUInt32BE(4)
  else if (name === 'stsd' && found.isAudio !== false) {
    if (found.isAudio === undefined) return false
    const seconds = sampleSecondsOf(body)
    if (seconds === undefined) return false
    found.sampleSeconds = seconds
    found.sampleSecondsMax = Math.max(found.sampleSecondsMax, seconds)
  } else if ((name === 'stsz' || name === 'stz2') && found.isAudio) {
    if (found.sampleSeconds === undefined) return false
    found.seconds += body.readUInt32BE(8) * found.sampleSeconds
  }
  return !Number.isNaN(found.declaredSeconds)
}

/** The minimum size of each box that is read. */
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
  // A body too short for its 64-bit fields declares no usable duration, so nothing bounds it.
  if (body.length < 32) return { scale: 1, duration: Infinity }
  return { scale: body.readUInt32BE(20), duration: Number(body.readBigUInt64BE(24)) }
}

/** The length of one sample in seconds; undefined if the codec is unknown. */
function sampleSecondsOf(descriptions: Buffer): number | undefined {
  if (descriptions.readUInt32BE(4) !== 1) return undefined
  const codec = descriptions.toString('latin1', 12, 16)
  if (codec === 'Opus') return OPUS_PACKET_SECONDS_MAX
  const rate = codec === 'mp4a' ? aacRateOf(descriptions) : undefined
  return rate === undefined ? undefined : 1_024 / rate
}
