import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../../test/harness/fast-check.ts'
import { measureAudio, type AudioLength } from './measure-audio.ts'
import { checksum } from './ogg-seconds.ts'

const HEADER_BYTES = 44

/** Measures a file that begins with these bytes and has zeros after them. */
function lengthOf(head: Buffer, bytes = head.length): Promise<AudioLength> {
  return measureAudio({
    bytes,
    async readInto(buffer, position) {
      const there = Math.max(0, Math.min(buffer.length, bytes - position))
      buffer.fill(0, 0, there)
      if (position < head.length) head.copy(buffer, 0, position, position + there)
      return there
    },
  })
}

interface WavFormat {
  readonly tag?: number
  readonly channels?: number
  readonly sampleRate?: number
  readonly bits?: number
  /** The byte rate that the header declares, in place of the true one. */
  readonly bytesPerSecond?: number
  readonly bytesPerFrame?: number
}

function formatChunk(format: WavFormat): Buffer {
  const { tag = 1, channels = 1, sampleRate = 16_000, bits = 16 } = format
  const bytesPerFrame = format.bytesPerFrame ?? (channels * bits) / 8
  const chunk = Buffer.alloc(24)
  chunk.write('fmt ', 'latin1')
  chunk.writeUInt32LE(16, 4)
  chunk.writeUInt16LE(tag, 8)
  chunk.writeUInt16LE(channels, 10)
  chunk.writeUInt32LE(sampleRate, 12)
  chunk.writeUInt32LE((format.bytesPerSecond ?? sampleRate * bytesPerFrame) >>> 0, 16)
  chunk.writeUInt16LE(bytesPerFrame & 0xffff, 20)
  chunk.writeUInt16LE(bits, 22)
  return chunk
}

/** The beginning of a WAV file with these samples, and with chunks of these lengths before its format. */
function wavHead(format: WavFormat, ...chunksBefore: readonly number[]): Buffer {
  const riff = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1')
  const others = chunksBefore.map((length) => {
    const chunk = Buffer.alloc(8 + length + (length % 2))
    chunk.write('LIST', 'latin1')
    chunk.writeUInt32LE(length, 4)
    return chunk
  })
  return Buffer.concat([
    riff,
    ...others,
    formatChunk(format),
    Buffer.from('data\0\0\0\0', 'latin1'),
  ])
}

/** The beginning of an MP3 file: two frames of this version, bitrate index and sample rate. */
function mp3Head(version: number, bytes: number, rest: number): Buffer {
  const head = Buffer.alloc(bytes + 4)
  head.set([0xff, version, rest, 0xc4], 0)
  head.set([0xff, version, rest, 0xc4], bytes)
  return head
}

test('a WAV file is as long as its header implies, rounded up, at any rate', async () => {
  for (const [rate, format] of [
    [1, { sampleRate: 1, bits: 8 }],
    [8_000, { sampleRate: 8_000, bits: 8 }],
    [8_000, { sampleRate: 8_000, bits: 8, tag: 7 }],
    [32_000, {}],
    [176_400, { sampleRate: 44_100, channels: 2 }],
    [192_000, { sampleRate: 48_000, bits: 32, tag: 3 }],
  ] as const) {
    for (const [bytes, seconds] of [
      [60 * rate + HEADER_BYTES * rate, 60 + HEADER_BYTES],
      [60 * rate + HEADER_BYTES * rate + 1, 60 + HEADER_BYTES + 1],
    ] as const) {
      const length = await lengthOf(wavHead(format), bytes)
      assert.deepEqual(length, { secondsMax: seconds, secondsTypical: seconds })
    }
  }
})

test('the format of a WAV file is found behind other chunks, also of odd length', async () => {
  for (const before of [[0], [10], [11], [3, 5, 700]])
    assert.equal((await lengthOf(wavHead({}, ...before), 320_000)).secondsMax, 10)
})

const id3 = (bytes: number, sound: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([
      0x49,
      0x44,
      0x33,
      4,
      0,
      0,
      0,
      (bytes >> 14) & 127,
      (bytes >> 7) & 127,
      bytes & 127,
    ]),
    Buffer.alloc(bytes),
    sound,
  ])

test('MP3 is at most as long as the lowest bitrate allows, also behind a tag of any length', async () => {
  const frames = mp3Head(0xfb, 417, 0x90)
  for (const head of [
    frames,
    mp3Head(0xf3, 26, 0x10),
    mp3Head(0xe3, 72, 0x18),
    id3(130, frames),
    id3(9_000, frames),
    id3(20, id3(5_000, frames)),
  ]) {
    const { secondsMax, secondsTypical } = await lengthOf(head, 16_000)
    assert.deepEqual([secondsMax, secondsTypical], [16, 1])
  }
})

test('MP3 is as long as its first frame declares, if that is longer', async () => {
  const frames = 1_000_000
  const declaring = (head: Buffer, name: string, at: number): Buffer => {
    head.write(name, 36, 'latin1')
    head[36 + 7] = 1
    head.writeUInt32BE(frames, 36 + at)
    return head
  }
  for (const [head, seconds] of [
    [declaring(mp3Head(0xfb, 417, 0x90), 'Xing', 8), (frames * 1_152) / 44_100],
    [declaring(mp3Head(0xfb, 417, 0x90), 'Info', 8), (frames * 1_152) / 44_100],
    [declaring(mp3Head(0xfb, 417, 0x90), 'VBRI', 14), (frames * 1_152) / 44_100],
    [declaring(mp3Head(0xe3, 72, 0x18), 'Xing', 8), (frames * 576) / 8_000],
  ] as const)
    assert.equal((await lengthOf(id3(20, head), 16_000)).secondsMax, Math.ceil(seconds))
})

test('a file of an unknown format has no bound', async () => {
  for (const [name, head] of Object.entries({
    'MP3 of a free rate': mp3Head(0xfb, 417, 0x00),
    'MP3 of no rate': mp3Head(0xfb, 417, 0xf0),
    'MP3 without a second frame': Buffer.concat([mp3Head(0xfb, 400, 0x90), Buffer.alloc(100)]),
    'a tag before Ogg that is none': id3(0, Buffer.from('OggS')),
    'a tag that is longer than the file': id3(100_000, Buffer.alloc(0)).subarray(0, 20),
    Ogg: Buffer.from('OggS'),
    FLAC: Buffer.from('fLaC'),
    WebM: Buffer.from('\x1aE\xdf\xa3', 'latin1'),
    MP4: Buffer.from('\0\0\0\x20ftypM4A ', 'latin1'),
    AVI: Buffer.from('RIFF\0\0\0\0AVI ', 'latin1'),
    nothing: Buffer.alloc(0),
    'IMA ADPCM': wavHead({ tag: 0x11, bits: 4, sampleRate: 1 }),
    GSM: wavHead({ tag: 0x31, bits: 0, sampleRate: 100 }),
  })) {
    const { secondsMax, secondsTypical } = await lengthOf(head, 20_000)
    assert.deepEqual([secondsMax, secondsTypical], [Infinity, 2], name)
  }
})

test('a WAV header that lies or contradicts itself never lowers the bound', async () => {
  const honest: WavFormat = { sampleRate: 16_000, channels: 1, bits: 16 }
  const lies: WavFormat[] = [
    { bytesPerSecond: 2 ** 32 - 1 },
    { bytesPerSecond: 1 },
    { bytesPerFrame: 0xffff },
    { channels: 0 },
    { channels: 65_535, bits: 8 },
    { sampleRate: 2 ** 32 - 1, bytesPerFrame: 2 },
    { sampleRate: 0 },
    { bits: 15 },
    { tag: 0x55 },
    { tag: 0xfffe },
  ]
  for (const lie of lies) {
    const { secondsMax } = await lengthOf(wavHead({ ...honest, ...lie }), 100_000)
    assert.equal(secondsMax, Infinity, JSON.stringify(lie))
  }
})

test('a WAV file with two formats, or cut off before its samples, has no bound', async () => {
  const twice = Buffer.concat([
    wavHead({ sampleRate: 384_000, channels: 8, bits: 32 }).subarray(0, 36),
    formatChunk({ sampleRate: 8_000, bits: 8 }),
    Buffer.from('data\0\0\0\0', 'latin1'),
  ])
  assert.equal((await lengthOf(twice, 1_000)).secondsMax, Infinity)
  const whole = wavHead({})
  for (let length = 0; length < 40; length++)
    assert.equal((await lengthOf(whole.subarray(0, length), 1_000)).secondsMax, Infinity)
})

/** STREAMINFO, and this many bytes of frames. */
function flac(rate: number, samplesOfFrame: number, samples: number, frameBytes: number): Buffer {
  const bytes = Buffer.alloc(42 + frameBytes)
  bytes.write('fLaC', 'latin1')
  bytes[4] = 0x80
  bytes.writeUIntBE(34, 5, 3)
  bytes.writeUInt16BE(samplesOfFrame, 8)
  bytes.writeUInt16BE(samplesOfFrame, 10)
  bytes.writeBigUInt64BE((BigInt(rate) << 44n) | (7n << 36n) | BigInt(samples), 18)
  return bytes
}

test('the bound of FLAC assumes the smallest frames of the most samples, and is never below the declared length', async () => {
  for (const rate of [1, 8_000, 44_100, 655_350]) {
    for (const frames of [1, 7, 1_000]) {
      const seconds = (frames * 65_535) / rate
      const file = flac(rate, 65_535, 0, frames * 14)
      for (const sound of [file, id3(0, file), id3(6_000, file)])
        assert.ok((await lengthOf(sound)).secondsMax >= seconds)
    }
  }
  assert.equal((await lengthOf(flac(8_000, 4_096, 8_000_000, 14))).secondsMax, 1_000)
})

interface OggPage {
  readonly packets: readonly Buffer[]
  readonly granule: number
  readonly flags?: number
}

function oggPage({ packets, granule, flags = 0 }: OggPage): Buffer {
  const lacing = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ])
  const head = Buffer.alloc(27)
  head.write('OggS', 'latin1')
  head[5] = flags
  head.writeBigInt64LE(BigInt(granule), 6)
  head[26] = lacing.length
  const page = Buffer.concat([head, Buffer.from(lacing), ...packets])
  page.writeUInt32LE(checksum(page, page.length), 22)
  return page
}

const OPUS_HEADS = [
  oggPage({
    packets: [Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')],
    granule: 0,
    flags: 2,
  }),
  oggPage({ packets: [Buffer.from('OpusTags\0\0\0\0\0\0\0\0', 'latin1')], granule: 0 }),
]

/** Pages of one second each, with packets that begin with these bytes. */
function ogg(seconds: number, packet: Buffer, packetMs: number): Buffer {
  const packets = Array.from({ length: Math.floor(1_000 / packetMs) }, () => packet)
  const pages = Array.from({ length: seconds }, (_, index) =>
    oggPage({ packets, granule: (index + 1) * 48_000 }),
  )
  return Buffer.concat([...OPUS_HEADS, ...pages])
}

/** Opus packets of 20 ms as phones and browsers send them: CELT full band, or SILK wide band. */
const opus = (bytes: number, toc = 0xfc): Buffer => Buffer.alloc(bytes, toc & 0xfc)

test('the checksum of a page follows the definition of Ogg', () => {
  // The check value of CRC-32/CKSUM, 0x765e7680, before its final inversion.
  assert.equal(checksum(Buffer.from('123456789'), 9), 0x89a1897f)
})

test('the bound of a voice message of Opus, from a phone or browser, is its true length', async () => {
  for (const [name, sound] of Object.entries({
    'WhatsApp: Ogg Opus of 16 kbit/s': ogg(60, opus(40, 0x48), 20),
    'Telegram: Ogg Opus of 60 ms': ogg(60, opus(180, 0x58), 60),
    'Firefox: Ogg Opus': ogg(60, opus(120), 20),
    'Chrome: WebM': webm(60, opus(960), 60),
    'Firefox: WebM': webm(60, opus(120), 20),
  })) {
    const { secondsMax } = await lengthOf(sound)
    assert.ok(secondsMax >= 60 && secondsMax <= 62, `${name}: ${secondsMax}`)
  }
})

test('silence in the fewest bytes is bounded by its full length', async () => {
  // Two frames of 60 ms without data: 120 ms in one byte.
  const silence = Buffer.from([0x5d])
  const seconds = 3_000 * 0.12
  const page = oggPage({ packets: Array.from({ length: 250 }, () => silence), granule: 0 })
  const file = Buffer.concat([...OPUS_HEADS, ...Array.from({ length: 12 }, () => page)])
  assert.ok((await lengthOf(file)).secondsMax >= seconds)
  assert.ok((await lengthOf(webm(360, silence, 120))).secondsMax >= seconds)
})

test('the declared length of a container is the bound, if it exceeds its audio', async () => {
  const jump = oggPage({ packets: [opus(40)], granule: 9_000 * 48_000 })
  assert.equal((await lengthOf(Buffer.concat([...OPUS_HEADS, jump]))).secondsMax, 9_000)
  assert.equal((await lengthOf(mp4(10, 44_100, 9_000))).secondsMax, 9_000)
  assert.ok((await lengthOf(webm(1, opus(40), 20, 9_000))).secondsMax >= 9_000)
})

test('the audio is the bound, if it exceeds the declared length of its container', async () => {
  const samples = 1_000_000
  assert.ok((await lengthOf(mp4(samples, 8_000, 1))).secondsMax >= (samples * 1_024) / 8_000)
  assert.ok((await lengthOf(webm(60, opus(120), 20, 1))).secondsMax >= 60)
})

test('a file with incomplete pages, boxes or elements has no bound', async () => {
  const whole = { ogg: ogg(3, opus(40), 20), mp4: mp4(100, 44_100, 3), webm: webm(3, opus(40), 20) }
  const damaged = Buffer.from(whole.ogg)
  damaged[200] = (damaged[200] as number) ^ 1
  const hidden = Buffer.concat([whole.ogg, Buffer.alloc(10)])
  for (const file of [damaged, hidden, whole.webm.subarray(0, -1), whole.ogg.subarray(0, -1)])
    assert.equal((await lengthOf(file)).secondsMax, Infinity)
  for (const codec of ['alac', 'fLaC', '.mp3'])
    assert.equal((await lengthOf(mp4(100, 44_100, 3, codec))).secondsMax, Infinity)
  assert.equal((await lengthOf(webm(3, opus(40), 20, 0, 'A_VORBIS'))).secondsMax, Infinity)
})

test('an MP4 file with a table of samples in a box that is not entered has no bound', async () => {
  const hidden = box('stsz', words(0, 1, 100_000))
  for (const name of ['dinf', 'udta', 'wave', 'free']) {
    const file = mp4(100, 44_100, 3, 'mp4a', box(name, hidden))
    assert.equal((await lengthOf(file)).secondsMax, Infinity, name)
  }
  assert.equal((await lengthOf(mp4(100, 44_100, 3, 'mp4a', box('udta')))).secondsMax, 3)
})

function box(name: string, ...parts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + parts.reduce((sum, { length }) => sum + length, 0))
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, ...parts])
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4))
  return bytes
}

const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
]

function track(
  samples: number,
  rate: number,
  seconds: number,
  codec = 'mp4a',
  beside: Buffer = Buffer.alloc(0),
): Buffer {
  const specific = (2 << 11) | (AAC_RATES.indexOf(rate) << 7) | (1 << 3)
  const decoder = Buffer.from([
    0x40,
    0x15,
    0,
    0,
    0,
    0,
    1,
    0xf4,
    0,
    0,
    1,
    0xf4,
    0,
    5,
    2,
    specific >> 8,
    specific & 255,
  ])
  // Apple writes the length in four bytes.
  const stream = Buffer.concat([
    Buffer.from([0, 1, 0, 4, 0x80, 0x80, 0x80, decoder.length]),
    decoder,
  ])
  const esds = Buffer.concat([words(0), Buffer.from([3, 0x80, 0x80, 0x80, stream.length]), stream])
  const entry = box(codec, Buffer.alloc(28), box('esds', esds))
  const sizes = Buffer.concat([words(0, 0, samples), Buffer.alloc(samples * 4)])
  const table = box('stbl', box('stsd', words(0, 1), entry), box('stsz', sizes))
  const handler = box('hdlr', words(0, 0), Buffer.from('soun'), Buffer.alloc(13))
  const media = box(
    'mdia',
    box('mdhd', words(0, 0, 0, rate, seconds * rate, 0)),
    handler,
    box('minf', beside, table),
  )
  return box('trak', box('tkhd', words(7, 0, 0, 1, 0, 0)), media)
}

function mp4(
  samples: number,
  rate: number,
  seconds: number,
  codec?: string,
  beside?: Buffer,
): Buffer {
  const movie = box('mvhd', words(0, 0, 0, 1_000, seconds * 1_000), Buffer.alloc(80))
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0M4A mp42', 'latin1')),
    box('mdat', Buffer.alloc(100_000)),
    box('moov', movie, track(samples, rate, seconds, codec, beside)),
  ])
}

/** An element; without content its length is unknown. */
function element(id: string, content?: Buffer): Buffer {
  if (!content) return Buffer.from(`${id}01ffffffffffffff`, 'hex')
  const length = Buffer.alloc(4)
  length.writeUInt32BE((0x1000_0000 + content.length) >>> 0)
  return Buffer.concat([Buffer.from(id, 'hex'), length, content])
}

/** A file as browsers write it while recording: clusters of five seconds and unknown length. */
function webm(
  seconds: number,
  packet: Buffer,
  packetMs: number,
  says = 0,
  codec = 'A_OPUS',
): Buffer {
  const duration = Buffer.alloc(8)
  duration.writeDoubleBE(says * 1_000)
  const parts = [
    element('1a45dfa3', Buffer.from('4282847765626d', 'hex')),
    element('18538067'),
    element(
      '1549a966',
      Buffer.concat([
        element('2ad7b1', Buffer.from('0f4240', 'hex')),
        ...(says ? [element('4489', duration)] : []),
      ]),
    ),
    element(
      '1654ae6b',
      element(
        'ae',
        Buffer.concat([element('d7', Buffer.from([1])), element('86', Buffer.from(codec))]),
      ),
    ),
  ]
  for (let ms = 0; ms < seconds * 1_000; ms += packetMs) {
    if (ms % 5_000 < packetMs) parts.push(element('1f43b675'), element('e7', words(ms)))
    const head = Buffer.from([0x81, 0, 0, 0x80])
    head.writeInt16BE(ms % 5_000 < packetMs ? 0 : ms % 5_000, 1)
    parts.push(element('a3', Buffer.concat([head, packet])))
  }
  return Buffer.concat(parts)
}

test('any bytes give whole seconds or no bound, and a typical length within it', async () => {
  const whole = [
    ogg(2, opus(40), 20),
    mp4(50, 44_100, 2),
    webm(2, opus(40), 20),
    flac(8_000, 4_096, 1, 99),
    wavHead({}),
  ]
  const changed = fc
    .tuple(
      fc.constantFrom(...whole),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 }),
      fc.nat(),
    )
    .map(([sound, changes, cut]) => {
      const copy = Buffer.from(sound)
      for (const [at, byte] of changes) copy[at % Math.min(copy.length, 600)] = byte
      return copy.subarray(0, copy.length - (cut % 3 === 0 ? cut % copy.length : 0))
    })
  const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, random), async (sound) => {
      const { secondsMax, secondsTypical } = await lengthOf(sound)
      assert.ok(Number.isInteger(secondsMax) || secondsMax === Infinity, String(secondsMax))
      assert.ok(Number.isInteger(secondsTypical) && secondsTypical <= secondsMax)
      assert.ok(secondsMax > 0)
    }),
    { numRuns: 5_000 },
  )
})

/** The head of a box with so many bytes after it. */
function boxHead(name: string, bodyBytes: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + bodyBytes, 0)
  head.write(name, 4, 'latin1')
  return head
}

test('boxes nested without end do not overflow the stack, and have no bound', async () => {
  const levels = 40_000
  const heads = Array.from({ length: levels }, (_, level) =>
    boxHead(level === 0 ? 'moov' : 'trak', 8 * (levels - level - 1)),
  )
  const file = Buffer.concat([boxHead('ftyp', 8), Buffer.from('M4A \0\0\0\0', 'latin1'), ...heads])
  assert.equal((await lengthOf(file)).secondsMax, Infinity)
})

test('a file with more boxes than any film has no bound, because each takes time', async () => {
  const withBoxes = (count: number): Buffer => {
    const boxes = Buffer.alloc(8 * count, boxHead('free', 0))
    return Buffer.concat([mp4(100, 44_100, 3), boxHead('moov', boxes.length), boxes])
  }
  assert.equal((await lengthOf(withBoxes(200_000))).secondsMax, 3)
  assert.equal((await lengthOf(withBoxes(300_000))).secondsMax, Infinity)
})

test('a file of the smallest boxes or elements is read in large parts, not once for each', async () => {
  const bytes = 1_000_000
  for (const file of [
    Buffer.concat([
      boxHead('ftyp', 8),
      Buffer.from('M4A \0\0\0\0', 'latin1'),
      Buffer.alloc(bytes, boxHead('free', 0)),
    ]),
    Buffer.concat([
      element('1a45dfa3', element('4282', Buffer.from('webm'))),
      Buffer.alloc(bytes, Buffer.from('ec80', 'hex')),
    ]),
  ]) {
    let reads = 0
    const { secondsMax } = await measureAudio({
      bytes: file.length,
      async readInto(buffer, position) {
        reads += 1
        return file.copy(buffer, 0, Math.min(position, file.length))
      },
    })
    assert.equal(secondsMax, Infinity)
    assert.ok(reads < 20, `${reads} reads`)
  }
})
