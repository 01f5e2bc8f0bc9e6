import { TRACK_TABLES, trackTablesOf, type TrackTables } from './track-tables.ts'

export interface Mp4Sample {
  readonly position: number
  readonly bytes: number
}

/** The samples of one track of AAC, or those of one run of a fragment. */
export interface Mp4Samples {
  readonly rateIndex: number
  readonly samples: Iterable<Mp4Sample>
}

/** Finds the samples of the AAC tracks of an MP4 file. The boxes are read in their order. */
export interface Mp4SampleTables {
  openTrack(): void
  /** Takes the track's tables since `openTrack`; without an index its samples are not wanted. */
  closeTrack(rateIndex: number | undefined): void
  openFragment(position: number): void
  /** Takes note of a box. */
  read(name: string, body: Buffer): void
  /** The samples since the last call; undefined if the tables do not say with certainty where they are. */
  take(): readonly Mp4Samples[] | undefined
}

interface Runs {
  readonly trackId: number
  readonly base: number
  readonly sampleBytes: number
  hasRuns: boolean
}

export function createMp4SampleTables(): Mp4SampleTables {
  let isUncertain = false
  let found: Mp4Samples[] = []
  let tables: Map<string, Buffer> | undefined
  const rateIndexes = new Map<number, number | undefined>()
  const defaultSizes = new Map<number, number>()
  let fragmentAt = 0
  /** The end of the samples before, where those of the next track of a fragment begin by default. */
  let runEnd = 0
  let runs: Runs | undefined

  function closeTrack(rateIndex: number | undefined): void {
    const head = tables?.get('tkhd')
    const samples = rateIndex !== undefined && tables ? trackTablesOf(tables) : undefined
    tables = undefined
    const id = head && trackIdOf(head)
    if (samples === 'uncertain' || (head && (id === undefined || rateIndexes.has(id))))
      isUncertain = true
    else if (rateIndex !== undefined && samples)
      found.push({ rateIndex, samples: samplesOfTrack(samples) })
    if (id !== undefined) rateIndexes.set(id, rateIndex)
  }

  function readRunsHead(body: Buffer): Runs | undefined {
    if (body.length < 8) return undefined
    const flags = body.readUInt32BE(0)
    const trackId = body.readUInt32BE(4)
    const [hasBase, hasSize] = [(flags & 1) !== 0, (flags & 0x10) !== 0]
    const sizeAt = 8 + (hasBase ? 8 : 0) + ((flags & 2) !== 0 ? 4 : 0) + ((flags & 8) !== 0 ? 4 : 0)
    if (body.length < sizeAt + (hasSize ? 4 : 0)) return undefined
    const sampleBytes = hasSize ? body.readUInt32BE(sizeAt) : defaultSizes.get(trackId)
    if (sampleBytes === undefined) return undefined
    const isFromFragment = (flags & 0x2_0000) !== 0
    const base = hasBase ? Number(body.readBigUInt64BE(8)) : isFromFragment ? fragmentAt : runEnd
    return { trackId, base, sampleBytes, hasRuns: false }
  }

  /** Returns false if it is uncertain where the samples are. */
  function readRun(body: Buffer): boolean {
    if (!runs || body.length < 8 || !rateIndexes.has(runs.trackId)) return false
    const flags = body.readUInt32BE(0)
    const count = body.readUInt32BE(4)
    const hasOffset = (flags & 1) !== 0
    // Decoders disagree where a second run without an offset begins.
    if (!hasOffset && runs.hasRuns) return false
    const fields = [0x100, 0x200, 0x400, 0x800].filter((bit) => (flags & bit) !== 0)
    const step = fields.length * 4
    const headBytes = 8 + (hasOffset ? 4 : 0) + ((flags & 4) !== 0 ? 4 : 0)
    if (body.length < headBytes + count * step) return false
    const position = runs.base + (hasOffset ? body.readInt32BE(8) : 0)
    runEnd = position
    if (fields.includes(0x200)) {
      const sizes = body.subarray(headBytes + ((flags & 0x100) !== 0 ? 4 : 0))
      for (let sample = 0; sample < count; sample++) runEnd += sizes.readUInt32BE(sample * step)
      add(runs.trackId, samplesOfSizes(position, sizes, step, count))
    } else {
      runEnd += count * runs.sampleBytes
      add(runs.trackId, samplesOfSize(position, runs.sampleBytes, count))
    }
    runs.hasRuns = true
    return true
  }

  function add(trackId: number, samples: Iterable<Mp4Sample>): void {
    const rateIndex = rateIndexes.get(trackId)
    if (rateIndex !== undefined) found.push({ rateIndex, samples })
  }

  function readDefault(body: Buffer): void {
    const id = body.length < 20 ? undefined : body.readUInt32BE(4)
    if (id === undefined || defaultSizes.has(id)) isUncertain = true
    else defaultSizes.set(id, body.readUInt32BE(16))
  }

  return {
    closeTrack,
    openTrack() {
      if (tables) isUncertain = true
      tables = new Map()
    },
    openFragment(position) {
      fragmentAt = position
      runEnd = position
      runs = undefined
    },
    read(name, body) {
      if (name === 'trex') readDefault(body)
      else if (name === 'tfhd') runs = readRunsHead(body)
      else if (name === 'trun' && !readRun(body)) isUncertain = true
      else if (TRACK_TABLES.has(name)) {
        if (!tables || tables.has(name)) isUncertain = true
        tables?.set(name, body)
      }
    },
    take() {
      const taken = found
      found = []
      return isUncertain ? undefined : taken
    },
  }
}

function trackIdOf(head: Buffer): number | undefined {
  const at = head[0] === 1 ? 20 : 12
  return head.length < at + 4 ? undefined : head.readUInt32BE(at)
}

function* samplesOfTrack({
  sizes,
  chunks,
  offsets,
  offsetBytes,
}: TrackTables): Generator<Mp4Sample> {
  const sizeOfAll = sizes.readUInt32BE(4)
  const count = sizes.readUInt32BE(8)
  let [entry, sample] = [0, 0]
  for (let at = 8; at < offsets.length && sample < count; at += offsetBytes) {
    const chunk = (at - 8) / offsetBytes + 1
    const nextAt = 20 + entry * 12
    if (nextAt < chunks.length && chunks.readUInt32BE(nextAt) === chunk) entry++
    const length = Math.min(count - sample, chunks.readUInt32BE(12 + entry * 12))
    const position =
      offsetBytes === 4 ? offsets.readUInt32BE(at) : Number(offsets.readBigUInt64BE(at))
    yield* sizeOfAll === 0
      ? samplesOfSizes(position, sizes.subarray(12 + sample * 4), 4, length)
      : samplesOfSize(position, sizeOfAll, length)
    sample += length
  }
}

function* samplesOfSizes(
  position: number,
  sizes: Buffer,
  step: number,
  count: number,
): Generator<Mp4Sample> {
  for (let at = 0; at < count * step; at += step) {
    const bytes = sizes.readUInt32BE(at)
    yield { position, bytes }
    position += bytes
  }
}

function* samplesOfSize(position: number, bytes: number, count: number): Generator<Mp4Sample> {
  for (let sample = 0; sample < count; sample++)
    yield { position: position + sample * bytes, bytes }
}
