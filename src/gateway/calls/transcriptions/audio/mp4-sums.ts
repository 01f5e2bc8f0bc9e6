/** What the sample tables of an MP4 file add up to. */
export interface SampleSums {
  /** Of all samples of AAC and of fragments, those that overlap counted each time. */
  sampleBytes: number
  /** Of whichever tracks. */
  fragmentSamples: number
  /** Samples of fragments that have the default size, and the largest of the defaults. */
  defaultSamples: number
  defaultBytes: number
  /** The times of the samples of the current track. */
  ticks: number
}

/** Returns false if the table is shorter than it declares: decoders read on behind it. */
export function addSizes(body: Buffer, sums: SampleSums): boolean {
  const sizeOfAll = body.readUInt32BE(4)
  const count = body.readUInt32BE(8)
  if (sizeOfAll > 0) sums.sampleBytes += sizeOfAll * count
  else if (body.length < 12 + count * 4) return false
  else for (let at = 12; at < 12 + count * 4; at += 4) sums.sampleBytes += body.readUInt32BE(at)
  return true
}

/**
 * Returns false for samples of one tick, as which decoders also read a negative time: they take them for uncompressed
 * ones, and join them.
 */
export function addTimes(body: Buffer, sums: SampleSums): boolean {
  const end = 8 + body.readUInt32BE(4) * 8
  if (body.length < end || (end > 8 && body.readInt32BE(12) <= 1)) return false
  for (let at = 8; at < end; at += 8)
    sums.ticks += body.readUInt32BE(at) * body.readUInt32BE(at + 4)
  return true
}

/**
 * Reads the default size of the samples in a fragment's track. Returns false if the box is shorter than it declares.
 */
export function readRunsHead(body: Buffer, sums: SampleSums): boolean {
  const flags = body.readUInt32BE(0)
  if ((flags & 0x10) === 0) return true
  const at =
    8 + ((flags & 1) !== 0 ? 8 : 0) + ((flags & 2) !== 0 ? 4 : 0) + ((flags & 8) !== 0 ? 4 : 0)
  if (body.length < at + 4) return false
  sums.defaultBytes = Math.max(sums.defaultBytes, body.readUInt32BE(at))
  return true
}

/** Adds the samples of a fragment, of whichever track. Returns false if the box is shorter than it declares. */
export function addRun(body: Buffer, sums: SampleSums): boolean {
  const flags = body.readUInt32BE(0)
  const count = body.readUInt32BE(4)
  sums.fragmentSamples += count
  if ((flags & 0x200) === 0) {
    sums.defaultSamples += count
    return true
  }
  const step = [0x100, 0x200, 0x400, 0x800].filter((bit) => (flags & bit) !== 0).length * 4
  const head = 8 + ((flags & 1) !== 0 ? 4 : 0) + ((flags & 4) !== 0 ? 4 : 0)
  if (body.length < head + count * step) return false
  const first = head + ((flags & 0x100) !== 0 ? 4 : 0)
  for (let sample = 0; sample < count; sample++)
    sums.sampleBytes += body.readUInt32BE(first + sample * step)
  return true
}
