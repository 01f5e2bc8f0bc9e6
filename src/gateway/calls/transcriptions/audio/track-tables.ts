/** The tables of an MP4 track that say where its samples begin. */
export interface TrackTables {
  readonly sizes: Buffer
  readonly chunks: Buffer
  readonly offsets: Buffer
  readonly offsetBytes: 4 | 8
}

export const TRACK_TABLES: ReadonlySet<string> = new Set([
  'tkhd',
  'elst',
  'stsd',
  'stts',
  'stsz',
  'stz2',
  'stsc',
  'stco',
  'co64',
])

/** Cut to their entries; undefined if one is absent or has none: then no decoder finds a sample. */
export function trackTablesOf(
  tables: ReadonlyMap<string, Buffer>,
): TrackTables | 'uncertain' | undefined {
  const [sizes, chunks, times] = ['stsz', 'stsc', 'stts'].map((name) => tables.get(name))
  const offsetBytes = tables.has('stco') ? 4 : 8
  const offsets = tables.get('stco') ?? tables.get('co64')
  if (tables.has('stz2') || (tables.has('stco') && tables.has('co64'))) return 'uncertain'
  if (!sizes || !chunks || !offsets) return undefined
  if (sizes.length < 12 || offsets.length < 8) return 'uncertain'
  if (offsets.readUInt32BE(4) === 0) return undefined
  const sizesCut = sizes.readUInt32BE(4) > 0 ? sizes : withEntries(sizes, 8, 4)
  const chunksCut = withEntries(chunks, 4, 12)
  const offsetsCut = withEntries(offsets, 4, offsetBytes)
  // Samples of one tick each are taken for uncompressed ones, which decoders join.
  const isOfTicks = times !== undefined && (times.length < 16 || times.readUInt32BE(12) === 1)
  if (!sizesCut || !chunksCut || !offsetsCut || isOfTicks || !areInOrder(chunksCut))
    return 'uncertain'
  return { sizes: sizesCut, chunks: chunksCut, offsets: offsetsCut, offsetBytes }
}

/** The table up to its last entry; undefined if it is shorter than it declares. */
function withEntries(table: Buffer, countAt: number, entryBytes: number): Buffer | undefined {
  if (table.length < countAt + 4) return undefined
  const end = countAt + 4 + table.readUInt32BE(countAt) * entryBytes
  return end > table.length ? undefined : table.subarray(0, end)
}

/** Whether each entry begins at a later chunk than the one before, has samples, and the only description. */
function areInOrder(chunks: Buffer): boolean {
  let before = 0
  for (let at = 8; at < chunks.length; at += 12) {
    const first = chunks.readUInt32BE(at)
    if (before === 0 ? first !== 1 : first <= before) return false
    if (chunks.readUInt32BE(at + 4) === 0 || chunks.readUInt32BE(at + 8) !== 1) return false
    before = first
  }
  return before > 0
}
