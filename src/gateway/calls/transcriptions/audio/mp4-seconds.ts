import { aacRateOf } from './aac.ts'
import { OPUS_PACKET_SECONDS_MAX } from './ogg-seconds.ts'
import { openWindow, type AudioFile } from './audio-window.ts'
import { addRun, addSizes, addTimes, readRunsHead, type SampleSums } from './mp4-sums.ts'

/** Brands of pictures: for decoders such a file may be one of another format. */
const PICTURES: ReadonlySet<string> = new Set(['jp2 ', 'jpx ', 'jxl '])
/** Enough for the tables of a film of many hours. */
const INDEX_BYTES_MAX = 32 * 1024 * 1024
/** Decoders play every frame in a sample of AAC; the smallest has four bytes, for 1,024 samples at 7,350 Hz. */
const AAC_BYTES_PER_SECOND_MIN = (4 * 7_350) / 1_024
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

/** Each is in a track, and only once: decoders differ in which of two they read. */
const TRACK_TABLES: ReadonlySet<string> = new Set([
  'tkhd',
  'elst',
  'stsd',
  'stsz',
  'stz2',
  'stts',
  'stsc',
  'stco',
  'co64',
])
/** The boxes that say how many samples there are, where each begins, and how long it is. */
const TABLES: ReadonlySet<string> = new Set([
  ...TRACK_TABLES,
  'trex',
  'tfhd',
  'trun',
  'mdhd',
  'mvhd',
  'mehd',
])

interface Found extends SampleSums {
  /** The longest duration that the headers declare, in seconds. */
  declaredSeconds: number
  movieScale: number
  /** Whether the current track is audio; undefined before its handler box was read. */
  isAudio: boolean | undefined
  isVideo: boolean
  /** Whether the current track's description was read. */
  isDescribed: boolean
  /** The length of one sample of the current track. */
  sampleSeconds: number | undefined
  isAac: boolean
  /** Of the current track. */
  mediaScale: number
  /** Those of the current track; undefined outside of a track. */
  trackTables: Set<string> | undefined
  /** The longest sample of all audio tracks so far. */
  sampleSecondsMax: number
  seconds: number
  /** The tables of samples that were read, also those of other tracks. */
  tables: number
  /** Each takes time, and may have as few as eight bytes. */
  boxes: number
}

/**
 * Returns the seconds of an MP4 file with Opus or AAC: those of its samples, those that its headers declare, or the most
 * sound that so many bytes of AAC can be, whichever are most. Infinite for other codecs, for malformed tables, for tables in
 * boxes that are not entered here (some decoders enter more), and if its edits may play the same sound more than once.
 *
 * For AAC that is some hundred times the length of speech: only its silence is so small. A bound nearer to the length
 * needs every frame read to its last bit.
 */
export async function mp4Seconds(file: AudioFile, start: number): Promise<number> {
  const found: Found = {
    declaredSeconds: 0,
    movieScale: 0,
    isAudio: undefined,
    isVideo: false,
    isDescribed: false,
    sampleSeconds: undefined,
    sampleSecondsMax: 0,
    seconds: 0,
    fragmentSamples: 0,
    tables: 0,
    boxes: 0,
    isAac: false,
    mediaScale: 0,
    ticks: 0,
    trackTables: undefined,
    sampleBytes: 0,
    defaultSamples: 0,
    defaultBytes: 0,
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
      // Some decoders read compressed tables, too.
      if (index.includes('cmov')) return Infinity
      if (!readBoxes(index, found)) return Infinity
      tablesNamed += countTables(index)
    }
    at += box.length
  }
  if (found.sampleSecondsMax === 0 || tablesNamed > found.tables) return Infinity
  const fragments = found.fragmentSamples * found.sampleSecondsMax
  const bytes = found.sampleBytes + found.defaultSamples * found.defaultBytes
  return Math.max(
    found.declaredSeconds,
    found.seconds + fragments,
    bytes / AAC_BYTES_PER_SECOND_MIN,
  )
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
      if (found.trackTables) return false
      found.trackTables = new Set()
      found.isAudio = undefined
      found.isVideo = false
      found.isDescribed = false
      found.sampleSeconds = undefined
      found.isAac = false
      found.mediaScale = 0
      found.ticks = 0
    }
    if (
      ENTERED.has(box.name) ? !readBoxes(body, found, depth + 1) : !readLeaf(box.name, body, found)
    )
      return false
    if (box.name === 'trak') closeTrack(found)
    at += box.length
  }
  return true
}

function closeTrack(found: Found): void {
  found.trackTables = undefined
  const scale = found.mediaScale || found.movieScale || 1
  found.declaredSeconds = Math.max(found.declaredSeconds, found.ticks / scale)
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
  if (TRACK_TABLES.has(name)) {
    if (!found.trackTables || found.trackTables.has(name)) return false
    found.trackTables.add(name)
  }
  const atLeast = LEAF_BYTES[name]
  if (atLeast === undefined) return true
  if (body.length < atLeast) return false
  if (name === 'hdlr') return readHandler(body.toString('latin1', 8, 12), found)
  if (name === 'elst') return readEdits(body, found)
  if (name === 'stsd' && !readCodec(body.toString('latin1', 12, 16), found)) return false
  if (name === 'mvhd' || name === 'mdhd') {
    const { scale, duration } = readTimes(body)
    if (name === 'mvhd') found.movieScale = scale
    else found.mediaScale = scale
    found.declaredSeconds = Math.max(found.declaredSeconds, duration / scale)
  } else if (name === 'mehd') {
    if (body[0] === 1 && body.length < 12) return false
    const duration = body[0] === 1 ? Number(body.readBigUInt64BE(4)) : body.readUInt32BE(4)
    found.declaredSeconds = Math.max(found.declaredSeconds, duration / found.movieScale)
  } else if (name === 'trex')
    found.defaultBytes = Math.max(found.defaultBytes, body.readUInt32BE(16))
  else if (name === 'tfhd') return readRunsHead(body, found)
  else if (name === 'trun') return addRun(body, found)
  else if (name === 'stsd' && found.isAudio !== false) {
    if (found.isAudio === undefined) return false
    const sample = sampleOf(body)
    if (!sample) return false
    found.sampleSeconds = sample.seconds
    found.sampleSecondsMax = Math.max(found.sampleSecondsMax, sample.seconds)
    found.isAac = sample.isAac
  } else if ((name === 'stsz' || name === 'stz2') && found.isAudio) {
    if (found.sampleSeconds === undefined) return false
    found.seconds += body.readUInt32BE(8) * found.sampleSeconds
    return !found.isAac || (name === 'stsz' && addSizes(body, found))
  } else if (name === 'stts' && found.isAac) return addTimes(body, found)
  return !Number.isNaN(found.declaredSeconds)
}

/** Returns false if decoders may take the track for another one than it was when its description was read. */
function readHandler(handler: string, found: Found): boolean {
  // QuickTime adds a second handler box, for the data.
  found.isAudio ||= handler === 'soun'
  found.isVideo ||= handler === 'vide'
  return !found.isDescribed && handler !== MPEG_HANDLER
}

/** Returns false for a codec that decoders may play although the handler of its track is not that of sound. */
function readCodec(codec: string, found: Found): boolean {
  found.isDescribed = true
  return found.isAudio !== false || found.isVideo || SILENT_CODECS.has(codec)
}

/** Returns false if more than one edit has sound: the same may be in all of them. */
function readEdits(body: Buffer, found: Found): boolean {
  const [isLong, edits] = [body[0] === 1, body.readUInt32BE(4)]
  const entryBytes = isLong ? 20 : 12
  if (body.length < 8 + edits * entryBytes) return false
  let sounding = 0
  let total = 0
  for (let at = 8; at < 8 + edits * entryBytes; at += entryBytes) {
    total += isLong ? Number(body.readBigUInt64BE(at)) : body.readUInt32BE(at)
    const isEmpty = isLong ? body.readBigInt64BE(at + 8) === -1n : body.readInt32BE(at + 4) === -1
    if (!isEmpty) sounding++
  }
  found.declaredSeconds = Math.max(found.declaredSeconds, total / found.movieScale)
  return sounding <= 1 && !Number.isNaN(found.declaredSeconds)
}

/** The minimum size of each box that is read. */
const LEAF_BYTES: Readonly<Record<string, number>> = {
  elst: 8,
  hdlr: 12,
  mvhd: 20,
  mdhd: 20,
  mehd: 8,
  trex: 20,
  tfhd: 8,
  trun: 8,
  stsd: 24,
  stts: 8,
  stsz: 12,
  stz2: 12,
}
const UNKNOWN = 0xffff_ffff
/** A handler whose track is MPEG audio for decoders. */
const MPEG_HANDLER = 'm1a '
/** The codecs of texts, times, places and hints for a server. */
const SILENT_CODECS: ReadonlySet<string> = new Set([
  'text',
  'tx3g',
  'wvtt',
  'stpp',
  'c608',
  'tmcd',
  'mebx',
  'camm',
  'gpmd',
  'rtp ',
])

function readTimes(body: Buffer): { scale: number; duration: number } {
  if (body[0] !== 1) {
    const duration = body.readUInt32BE(16)
    return { scale: body.readUInt32BE(12), duration: duration === UNKNOWN ? 0 : duration }
  }
  // A body too short for its 64-bit fields declares no usable duration, so nothing bounds it.
  if (body.length < 32) return { scale: 1, duration: Infinity }
  return { scale: body.readUInt32BE(20), duration: Number(body.readBigUInt64BE(24)) }
}

/** The length of one sample; undefined if the codec is unknown. */
function sampleOf(descriptions: Buffer): { seconds: number; isAac: boolean } | undefined {
  if (descriptions.readUInt32BE(4) !== 1) return undefined
  const codec = descriptions.toString('latin1', 12, 16)
  if (codec === 'Opus') return { seconds: OPUS_PACKET_SECONDS_MAX, isAac: false }
  const rate = codec === 'mp4a' ? aacRateOf(descriptions) : undefined
  return rate === undefined ? undefined : { seconds: 1_024 / rate, isAac: true }
}
