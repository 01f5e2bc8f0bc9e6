/**
 * Files that begin as one format and are another one for a decoder: ffmpeg 7.0.2 reads each of them as ten to hundreds of
 * times as long as the format says that they begin with.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../test/harness/fast-check.ts'
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

const box = (name: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, content])
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
