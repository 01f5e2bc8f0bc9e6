/**
 * Files that begin as one format and are another one for a decoder: ffmpeg 7.0.2 reads each of them as ten to hundreds of
 * times as long as the format says that they begin with.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../../test/harness/fast-check.ts'
import { aacMovie, box, BRAND, m4a, SAMPLES_AT, words } from '../../../../../test/harness/m4a.ts'
import { measureAudio } from './measure-audio.ts'
import { checksum } from './ogg-seconds.ts'

/** Silence of 1,024 samples at 8 kHz. */
const ADTS = Buffer.from('fff16c40017ffc01182007', 'hex')
const LOAS = Buffer.from('56e00682008c100380', 'hex')

async function secondsOf(...parts: readonly Buffer[]): Promise<number> {
  const file = Buffer.concat(parts)
  const { secondsMax } = await measureAudio({
    bytes: file.length,
    readInto: async (buffer, position) => file.copy(buffer, 0, Math.min(position, file.length)),
  })
  return secondsMax
}

const times = (count: number, part: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => part))

/** Frames of 8 kbit/s at 8 kHz. */
function mp3(frames: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(72)
  frame.set([0xff, 0xe3, 0x18, 0xc4])
  content.copy(frame, 4)
  return times(frames, frame)
}

/** The head of a file with eight channels of 64 bits. */
function wav(sampleRate: number, samples: Buffer): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF\0\0\0\0WAVEfmt ', 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(3, 20)
  head.writeUInt16LE(8, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate * 64, 28)
  head.writeUInt16LE(64, 32)
  head.writeUInt16LE(64, 34)
  head.write('data', 36, 'latin1')
  return Buffer.concat([head, samples])
}

function id3(content: Buffer, version = 3, revision = 0): Buffer {
  const sizes = [21, 14, 7, 0].map((shift) => (content.length >> shift) & 127)
  return Buffer.concat([Buffer.from([0x49, 0x44, 0x33, version, revision, 0, ...sizes]), content])
}

function oggPage(flags: number, body: Buffer, stream = 1): Buffer {
  const lacing = [
    ...Array.from({ length: Math.floor(body.length / 255) }, () => 255),
    body.length % 255,
  ]
  const head = Buffer.alloc(27)
  head.write('OggS', 'latin1')
  head[5] = flags
  head.writeUInt32LE(stream, 14)
  head[26] = lacing.length
  const page = Buffer.concat([head, Buffer.from(lacing), body])
  page.writeUInt32LE(checksum(page, page.length), 22)
  return page
}
const OPUS_HEAD = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')
const OPUS = Buffer.from([0xfc, 0xff])

function element(id: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(0x1000_0000 + content.length)
  return Buffer.concat([Buffer.from(id, 'hex'), length, content])
}

function webm(type: string, inHeader: Buffer = Buffer.alloc(0)): Buffer {
  const tracks = element('ae', element('86', Buffer.from('A_OPUS')))
  const block = element('a3', Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), OPUS]))
  return Buffer.concat([
    element(
      '1a45dfa3',
      Buffer.concat([element('4282', Buffer.from(type)), element('ec', inHeader)]),
    ),
    element('18538067', Buffer.concat([element('1654ae6b', tracks), element('1f43b675', block)])),
  ])
}

/** Of 655,350 Hz and blocks of 4,096 samples, with frames of the rate of this code. */
function flac(rateCode: number, frames: number, samplesMin = 4_096): Buffer {
  const head = Buffer.alloc(42)
  head.write('fLaC', 'latin1')
  head[4] = 0x80
  head[7] = 34
  head.writeUInt16BE(samplesMin, 8)
  head.writeUInt16BE(4_096, 10)
  head.writeBigUInt64BE((655_350n << 44n) | (7n << 36n), 18)
  const frame = Buffer.from([0xff, 0xf8, 0xc0 | rateCode, 0x02, 0, 0, 0, 0, 0, 0, 0])
  frame[5] = crc8(frame.subarray(0, 5))
  return Buffer.concat([head, times(frames, frame)])
}

function crc8(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => {
    let rest = sum ^ byte
    for (let bit = 0; bit < 8; bit++) rest = rest & 0x80 ? ((rest << 1) ^ 0x07) & 0xff : rest << 1
    return rest
  }, 0)
}

test('a tag that decoders take for none hides no sound', async () => {
  for (const [version, revision] of [
    [0xff, 0],
    [3, 0xff],
  ] as const)
    assert.equal(
      await secondsOf(id3(mp3(500), version, revision), wav(384_000, Buffer.alloc(0))),
      Infinity,
    )
  assert.equal(await secondsOf(id3(mp3(500)), wav(384_000, Buffer.alloc(0))), 1)
})

test('a tag so long that decoders find a format in it hides none', async () => {
  const tag = Buffer.concat([times(500, ADTS), Buffer.alloc(1_100_000)])
  assert.equal(await secondsOf(id3(tag), wav(384_000, times(500, ADTS))), Infinity)
  assert.equal(await secondsOf(id3(tag), mp3(2), times(500, ADTS)), Infinity)
})

test('frames of AAC behind, between or in frames of MP3 have no bound', async () => {
  for (const frame of [ADTS, LOAS]) {
    assert.equal(await secondsOf(mp3(2), times(500, frame)), Infinity)
    assert.equal(await secondsOf(mp3(2_000), times(3, frame), mp3(2_000)), Infinity)
    assert.equal(await secondsOf(mp3(50, times(6, frame))), Infinity)
  }
})

test('ordinary MP3, whatever its frames contain, keeps its bound', async () => {
  const frames = fc.array(fc.uint8Array({ minLength: 68, maxLength: 68 }), {
    minLength: 200,
    maxLength: 200,
  })
  await fc.assert(
    fc.asyncProperty(frames, async (contents) => {
      const all = contents.map((content) => mp3(1, Buffer.from(content)))
      assert.equal(await secondsOf(...all), 15)
    }),
    { numRuns: 20 },
  )
})

test('a WAV file in the layout of ACT has no bound', async () => {
  const samples = Buffer.alloc(50_000)
  assert.equal(await secondsOf(wav(8_000, samples)), 1)
  samples[256 - 44] = 0x84
  assert.equal(await secondsOf(wav(8_000, samples)), Infinity)
})

test('an Ogg file with unknown flags, or a stream without a beginning, has no bound', async () => {
  const packets = oggPage(0, OPUS)
  assert.equal(await secondsOf(oggPage(2, OPUS_HEAD), packets), 1)
  assert.equal(
    await secondsOf(oggPage(2, OPUS_HEAD), packets, oggPage(2, OPUS_HEAD, 7), oggPage(0, OPUS, 7)),
    1,
  )
  for (const flags of [0x0a, 0x12, 0x82])
    assert.equal(await secondsOf(oggPage(flags, OPUS_HEAD), packets), Infinity)
  const vorbis = oggPage(0, Buffer.from('\x01vorbis', 'latin1'), 7)
  assert.equal(await secondsOf(oggPage(2, OPUS_HEAD), vorbis), Infinity)
})

test('a WebM header of another type, or longer than decoders look, has no bound', async () => {
  assert.equal(await secondsOf(webm('webm')), 1)
  assert.equal(await secondsOf(webm('matroska')), 1)
  assert.equal(await secondsOf(webm('mebw')), Infinity)
  assert.equal(await secondsOf(webm('webm', times(500, ADTS))), Infinity)
})

/** Of one packet of Opus by its tables, and with frames of AAC in a box that nobody knows. */
function mp4(brand: string): Buffer {
  const handler = Buffer.alloc(12)
  handler.write('soun', 8, 'latin1')
  const description = Buffer.alloc(24)
  description.writeUInt32BE(1, 4)
  description.write('Opus', 12, 'latin1')
  const sizes = Buffer.alloc(12)
  sizes.writeUInt32BE(1, 8)
  const table = box('stbl', Buffer.concat([box('stsd', description), box('stsz', sizes)]))
  const media = box('mdia', Buffer.concat([box('hdlr', handler), box('minf', table)]))
  return Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0`)),
    box('zzzz', times(500, ADTS)),
    box('moov', box('trak', media)),
  ])
}

test('an MP4 file with the brand of a picture has no bound', async () => {
  assert.equal(await secondsOf(mp4('M4A ')), 1)
  for (const brand of ['jp2 ', 'jpx ', 'jxl '])
    assert.equal(await secondsOf(mp4(brand)), Infinity, brand)
})

test('FLAC frames of another rate than the file’s, and blocks that decoders doubt, have no bound', async () => {
  // 11 bytes and 4,096 samples in each frame.
  assert.equal(await secondsOf(flac(0, 1_000)), 7)
  for (const rateCode of [1, 4, 9, 10, 11]) {
    assert.equal(await secondsOf(flac(rateCode, 1_000)), Infinity)
    assert.equal(await secondsOf(flac(rateCode, 1)), Infinity)
  }
  assert.equal(await secondsOf(flac(0, 1_000, 15)), Infinity)
  assert.equal(await secondsOf(flac(0, 1_000, 4_097)), Infinity)
})

test('an MP4 file with compressed tables, which few decoders read, has no bound', async () => {
  const compressed = box('moov', box('cmov', Buffer.alloc(20)))
  assert.equal(await secondsOf(mp4('M4A '), compressed), Infinity)
})

const SAMPLE_BYTES = 11
const SAMPLES = 157
/** The most seconds that so many bytes of AAC can be: four bytes for 1,024 samples at 7,350 Hz. */
const MOST = Math.ceil((SAMPLES * SAMPLE_BYTES * 1_024) / (4 * 7_350))
/** An element of five bytes of other data, then silence. */
const SAMPLE = Buffer.concat([Buffer.from('80050000000000', 'hex'), ADTS.subarray(7)])

const LAYOUTS: Readonly<Record<string, (samples: Buffer) => readonly Buffer[]>> = {
  'one chunk, samples of one size': (samples) => [
    BRAND,
    box('mdat', samples),
    aacMovie(
      Buffer.concat([
        box('stsz', words(0, SAMPLE_BYTES, SAMPLES)),
        box('stsc', words(0, 1, 1, SAMPLES, 1)),
        box('stco', words(0, 1, SAMPLES_AT)),
      ]),
    ),
  ],
  'a chunk of two samples, then one for each sample, in 64 bits': (samples) => {
    const chunks = [0, ...Array.from({ length: SAMPLES - 2 }, (_, index) => index + 2)]
    return [
      BRAND,
      box('mdat', samples),
      aacMovie(
        Buffer.concat([
          box('stsz', words(0, 0, SAMPLES, ...Array<number>(SAMPLES).fill(SAMPLE_BYTES))),
          box('stsc', words(0, 2, 1, 2, 1, 2, 1, 1)),
          box(
            'co64',
            words(0, chunks.length, ...chunks.flatMap((at) => [0, SAMPLES_AT + at * SAMPLE_BYTES])),
          ),
        ]),
      ),
    ]
  },
  'a fragment with the sizes of its samples': (samples) =>
    fragment(samples, words(0x2_0000, 1), (offset) =>
      words(0x201, SAMPLES, offset, ...Array<number>(SAMPLES).fill(SAMPLE_BYTES)),
    ),
  'a fragment with the size of its track': (samples) =>
    fragment(samples, words(0x2_0000, 1), (offset) => words(1, SAMPLES, offset)),
  'a fragment with a size of its own': (samples) =>
    fragment(samples, words(0x10, 1, SAMPLE_BYTES), (offset) => words(1, SAMPLES, offset)),
}

function fragment(
  samples: Buffer,
  head: Buffer,
  run: (offset: number) => Buffer,
): readonly Buffer[] {
  const none = [box('stsz', words(0, 0, 0)), box('stsc', words(0, 0)), box('stco', words(0, 0))]
  const defaults = box('mvex', box('trex', words(0, 1, 1, 0, SAMPLE_BYTES, 0)))
  const index = (offset: number): Buffer =>
    box('moof', box('traf', Buffer.concat([box('tfhd', head), box('trun', run(offset))])))
  return [
    BRAND,
    aacMovie(Buffer.concat(none), defaults),
    index(index(0).length + 8),
    box('mdat', samples),
  ]
}

/** Decoders play every frame in the samples of an MP4 file: here, after a header that sets the lowest rate. */
const LOWEST_RATE = 7_350
const FRAME_SECONDS_MAX = 1_024 / LOWEST_RATE
/** Of a frame of silence at that rate, with the header that sets the rate. */
const LOWEST = Buffer.from('fff17040017ffc01182007', 'hex')
const FRAME = LOWEST.subarray(7)

test('an MP4 file of AAC is held for the most sound that its samples can be, in each layout', async () => {
  for (const [name, layout] of Object.entries(LAYOUTS))
    assert.equal(await secondsOf(...layout(times(SAMPLES, SAMPLE))), MOST, name)
})

test('frames that fill the samples of an MP4 file are never longer than its measured length', async () => {
  const sampleSizes = fc.array(fc.integer({ min: 11, max: 20_000 }), {
    minLength: 1,
    maxLength: 200,
  })
  const layouts = fc.constantFrom<(sizes: readonly number[], overlap: number) => Buffer[]>(
    (sizes, overlap) => {
      const chunks = sizes.map((_, at) => SAMPLES_AT + (overlap > 0 ? 0 : sum(sizes.slice(0, at))))
      return [
        box('mdat', packed(overlap > 0 ? Math.max(...sizes) : sum(sizes))),
        aacMovie(
          Buffer.concat([
            box('stsz', words(0, 0, sizes.length, ...sizes)),
            box('stsc', words(0, 1, 1, 1, 1)),
            box('stco', words(0, chunks.length, ...chunks)),
            box('stts', words(0, 1, sizes.length, 1_024)),
          ]),
        ),
      ]
    },
    (sizes, overlap) => {
      const size = Math.max(...sizes)
      const runs = sizes.map(() => box('trun', words(1, 1 + overlap, 0)))
      const head = box('tfhd', words(0x2_0000, 1))
      const none = [box('stsz', words(0, 0, 0)), box('stsc', words(0, 0)), box('stco', words(0, 0))]
      const defaults = box('mvex', box('trex', words(0, 1, 1, 0, size, 0)))
      return [
        aacMovie(Buffer.concat(none), defaults),
        box('moof', box('traf', Buffer.concat([head, ...runs]))),
        box('mdat', packed(size)),
      ]
    },
    (sizes) => {
      const [first = 0] = sizes
      const head = box('tfhd', words(0x2_0010, 1, first))
      const run = box('trun', words(0x201, sizes.length, 0, ...sizes))
      const one = box('trun', words(1, 1, 0))
      const none = [box('stsz', words(0, 0, 0)), box('stsc', words(0, 0)), box('stco', words(0, 0))]
      return [
        aacMovie(Buffer.concat(none)),
        box('moof', box('traf', Buffer.concat([head, run, one]))),
        box('mdat', packed(sum(sizes))),
      ]
    },
  )
  await fc.assert(
    fc.asyncProperty(layouts, sampleSizes, fc.nat({ max: 3 }), async (layout, sizes, overlap) => {
      const played = sum(sizes.map((size) => framesIn(size) * FRAME_SECONDS_MAX))
      const measured = await secondsOf(BRAND, ...layout(sizes, overlap))
      assert.ok(measured >= played, `${measured} s measured, ${played} s played`)
    }),
    { numRuns: 200 },
  )
})

test('a voice message of AAC is held for the longest sound of its size', async () => {
  // A minute of 96 kHz and 40 kbit/s, in 300 kB.
  const sizes = Array<number>(5_625).fill(53)
  assert.equal(await secondsOf(m4a(sizes)), 10_384)
})

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0)
const framesIn = (bytes: number): number => Math.floor((bytes - 7) / FRAME.length)
const packed = (bytes: number): Buffer =>
  Buffer.concat([LOWEST, Buffer.alloc(Math.max(0, bytes - LOWEST.length), FRAME)])

test('the times of samples count, and samples of one tick, which decoders join, have no bound', async () => {
  const withTimes = (stts: Buffer): Promise<number> =>
    secondsOf(BRAND, MEDIA, aacMovie(Buffer.concat([ONE_CHUNK, box('stts', stts)])))
  // 1,000 ticks are a second.
  assert.equal(await withTimes(words(0, 1, SAMPLES, 10)), MOST)
  assert.equal(await withTimes(words(0, 2, SAMPLES, 10, 1, 1_000_000)), 1_002)
  for (const ticks of [0, 1, 0x8000_0000, 0xffff_ffff])
    assert.equal(await withTimes(words(0, 1, SAMPLES, ticks)), Infinity, String(ticks))
  assert.equal(await withTimes(words(0, 1)), Infinity)
})

test('tables that are shorter than they declare, stand twice or outside of a track have no bound', async () => {
  const chunks = ONE_CHUNK.subarray(20)
  for (const tables of [
    Buffer.concat([box('stsz', words(0, 0, SAMPLES)), chunks]),
    Buffer.concat([box('stz2', words(0, 8, 0)), chunks]),
    Buffer.concat([ONE_CHUNK, box('stsz', words(0, 0, 0))]),
  ])
    assert.equal(await secondsOf(BRAND, MEDIA, aacMovie(tables)), Infinity)
  const outside = aacMovie(ONE_CHUNK, box('stsz', words(0, 0, 0)))
  assert.equal(await secondsOf(BRAND, MEDIA, outside), Infinity)
  const cutRun = box('moof', box('traf', box('trun', words(0x201, 9, 0))))
  assert.equal(await secondsOf(BRAND, MEDIA, aacMovie(ONE_CHUNK), cutRun), Infinity)
})

test('tables of billions of samples are not followed to their end', async () => {
  const tables = Buffer.concat([
    box('stsz', words(0, 1, 0xffff_ffff)),
    box('stsc', words(0, 1, 1, 0xffff_ffff, 1)),
    box('stco', words(0, 1, SAMPLES_AT)),
  ])
  const samples = Buffer.concat([Buffer.alloc(1), ADTS])
  assert.ok((await secondsOf(BRAND, aacMovie(tables), box('mdat', samples))) > 40_000_000)
})

const ONE_CHUNK = Buffer.concat([
  box('stsz', words(0, SAMPLE_BYTES, SAMPLES)),
  box('stsc', words(0, 1, 1, SAMPLES, 1)),
  box('stco', words(0, 1, SAMPLES_AT)),
])
const MEDIA = box('mdat', times(SAMPLES, SAMPLE))

test('an MP4 file whose edits may repeat its sound has no bound, and one of silence counts', async () => {
  const edits = (...entries: readonly (readonly [ms: number, from: number])[]): Buffer =>
    box('edts', box('elst', words(0, entries.length, ...entries.flatMap((e) => [...e, 65_536]))))
  const none = 0xffff_ffff
  const withEdits = (list: Buffer): Promise<number> =>
    secondsOf(BRAND, MEDIA, aacMovie(ONE_CHUNK, undefined, list))
  assert.equal(await withEdits(edits([1_000, 0])), MOST)
  assert.equal(await withEdits(edits([500, none], [1_000, 0])), MOST)
  assert.equal(await withEdits(edits([90_000, none], [1_000, 0])), 91)
  assert.equal(await withEdits(edits([1_000, 0], [1_000, 0])), Infinity)
  assert.equal(await withEdits(edits([1_000, 0], [1_000, 0xffff_fffe])), Infinity)
})

test('AAC in a track of another handler, which decoders play, has no bound', async () => {
  const file = (handler: string): Promise<number> =>
    secondsOf(BRAND, MEDIA, aacMovie(ONE_CHUNK, undefined, undefined, handler))
  assert.equal(await file('soun'), MOST)
  const decoy = aacMovie(ONE_CHUNK).subarray(8)
  for (const handler of ['text', 'meta', 'm1a ', '\0\0\0\0']) {
    const hidden = aacMovie(ONE_CHUNK, undefined, undefined, handler).subarray(8)
    hidden.writeUInt32BE(2, hidden.indexOf('tkhd') + 16)
    assert.equal(
      await secondsOf(BRAND, MEDIA, box('moov', Buffer.concat([decoy, hidden]))),
      Infinity,
    )
  }
})
