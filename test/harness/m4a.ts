/** MP4 files with a track of AAC. */
export const box = (name: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, content])
}

export const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4))
  return bytes
}

/** One track of AAC at 96 kHz with these tables. */
export function aacMovie(
  tables: Buffer,
  beside: Buffer = Buffer.alloc(0),
  inTrack: Buffer = Buffer.alloc(0),
  handlerName = 'soun',
): Buffer {
  const decoder = Buffer.concat([Buffer.from([0x40, 0x15]), Buffer.alloc(11)])
  const specific = Buffer.from([5, 2, 0x10, 0x08])
  const config = Buffer.concat([
    Buffer.from([0, 1, 0, 4, decoder.length + specific.length]),
    decoder,
    specific,
  ])
  const stream = Buffer.concat([words(0), Buffer.from([3, config.length]), config])
  const entry = box('mp4a', Buffer.concat([Buffer.alloc(28), box('esds', stream)]))
  const table = box(
    'stbl',
    Buffer.concat([box('stsd', Buffer.concat([words(0, 1), entry])), tables]),
  )
  const handler = box('hdlr', Buffer.concat([words(0, 0), Buffer.from(handlerName)]))
  const media = box('mdia', Buffer.concat([handler, box('minf', table)]))
  const head = box('tkhd', words(7, 0, 0, 1, 0, 0))
  const movie = box('mvhd', words(0, 0, 0, 1_000, 0))
  return box(
    'moov',
    Buffer.concat([movie, box('trak', Buffer.concat([head, inTrack, media])), beside]),
  )
}

export const BRAND = box('ftyp', Buffer.from('M4A \0\0\0\0'))
/** Where the samples begin, if they come first: after the brand and the head of their own box. */
export const SAMPLES_AT = BRAND.length + 8

/** A file with samples of these sizes. */
export function m4a(sizes: readonly number[]): Buffer {
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const tables = [
    box('stsz', words(0, 0, sizes.length, ...sizes)),
    box('stsc', words(0, 1, 1, sizes.length, 1)),
    box('stco', words(0, 1, SAMPLES_AT)),
  ]
  return Buffer.concat([
    BRAND,
    box('mdat', Buffer.alloc(bytes, 1)),
    aacMovie(Buffer.concat(tables)),
  ])
}
