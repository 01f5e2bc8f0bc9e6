import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { audioSecondsBound, audioSecondsTypical } from './audio-length.ts'

const HEADER_BYTES = 44

interface WavFormat {
  readonly tag?: number
  readonly channels?: number
  readonly sampleRate?: number
  readonly bits?: number
  /** What the header claims in place of what it comes to. */
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

/** The beginning of a WAV of such samples, with chunks of these lengths before its format. */
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

/** The head of an MP3: two frames, of this version, place in the tables of rates, and sample rate. */
function mp3Head(version: number, bytes: number, rest: number): Buffer {
  const head = Buffer.alloc(bytes + 4)
  head.set([0xff, version, rest, 0xc4], 0)
  head.set([0xff, version, rest, 0xc4], bytes)
  return head
}

test('a WAV is as long as its header says, rounded up, whatever its rate', () => {
  for (const [rate, format] of [
    [8_000, { sampleRate: 8_000, bits: 8 }],
    [8_000, { sampleRate: 8_000, bits: 8, tag: 7 }],
    [32_000, {}],
    [176_400, { sampleRate: 44_100, channels: 2 }],
    [192_000, { sampleRate: 48_000, bits: 32, tag: 3 }],
  ] as const) {
    for (const [bytes, seconds] of [
      [rate, 1],
      [rate + 1, 2],
      [60 * rate, 60],
    ] as const) {
      const file = { bytes, head: wavHead(format) }
      assert.equal(audioSecondsBound(file), seconds)
      assert.equal(audioSecondsTypical(file), seconds)
    }
  }
})

test('the format of a WAV is found behind other chunks, of odd length too', () => {
  for (const before of [[0], [10], [11], [3, 5, 700]]) {
    assert.equal(audioSecondsBound({ bytes: 320_000, head: wavHead({}, ...before) }), 10)
  }
})

test('MP3 is at most as long as its lowest rate allows', () => {
  for (const head of [
    mp3Head(0xfb, 417, 0x90),
    mp3Head(0xf3, 26, 0x10),
    mp3Head(0xe3, 72, 0x18),
    Buffer.concat([
      Buffer.from('ID3\x04\0\0\0\0\x01\x02', 'latin1'),
      Buffer.alloc(130),
      mp3Head(0xfb, 417, 0x90),
    ]),
    Buffer.from([0xff, 0xfb, 0x90, 0x00]),
  ]) {
    assert.equal(audioSecondsBound({ bytes: 16_000, head }), 16)
    assert.equal(audioSecondsTypical({ bytes: 16_000, head }), 1)
  }
})

test('MP3 of a free rate, behind a tag, or with nothing where its second frame should be is not believed', () => {
  for (const head of [
    mp3Head(0xfb, 417, 0x00),
    mp3Head(0xfb, 417, 0xf0),
    Buffer.concat([mp3Head(0xfb, 400, 0x90), Buffer.alloc(100)]),
    Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), Buffer.from('OggS')]),
  ])
    assert.equal(audioSecondsBound({ bytes: 20_000, head }), 1_000)
})

test('any other file is at most as long as silence of its format, and typically much shorter', () => {
  for (const [head, seconds] of [
    ['OggS', 1_000],
    ['fLaC', 1_000],
    ['\x1aE\xdf\xa3', 1_000],
    ['\0\0\0\x20ftypM4A ', 334],
    ['RIFF\0\0\0\0AVI ', 1_000],
    ['', 1_000],
  ] as const) {
    const file = { bytes: 20_000, head: Buffer.from(head, 'latin1') }
    assert.equal(audioSecondsBound(file), seconds)
    assert.equal(audioSecondsTypical(file), 2)
  }
})

test('a WAV header that lies or contradicts itself makes no sound shorter', () => {
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
    // Compressed: IMA ADPCM, GSM, MP3.
    { tag: 0x11, bits: 16 },
    { tag: 0x31 },
    { tag: 0x55 },
    { tag: 0xfffe },
  ]
  for (const lie of lies) {
    const head = wavHead({ ...honest, ...lie })
    assert.equal(audioSecondsBound({ bytes: 100_000, head }), 5_000, JSON.stringify(lie))
  }
})

test('a WAV with two formats, or that is cut before its samples, is not believed', () => {
  const twice = Buffer.concat([
    wavHead({ sampleRate: 384_000, channels: 8, bits: 32 }).subarray(0, 36),
    formatChunk({ sampleRate: 8_000, bits: 8 }),
    Buffer.from('data\0\0\0\0', 'latin1'),
  ])
  assert.equal(audioSecondsBound({ bytes: 1_000, head: twice }), 50)
  const whole = wavHead({})
  for (let length = 0; length < 44; length++)
    assert.equal(audioSecondsBound({ bytes: 1_000, head: whole.subarray(0, length) }), 50)
})

test('for any bytes there is an answer: whole seconds, none only of nothing, the typical within the bound', () => {
  const head = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(fc.nat(), fc.boolean(), fc.array(fc.nat({ max: 40 }), { maxLength: 4 }))
      .map(([rate, lies, chunks]) =>
        wavHead(lies ? { bytesPerSecond: rate } : { sampleRate: rate % 400_000 }, ...chunks),
      ),
    // Lengths of chunks that lead out of the head, or nowhere.
    fc
      .uint8Array({ minLength: 30, maxLength: 60 })
      .map((bytes) => Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), bytes])),
  )
  fc.assert(
    fc.property(head, fc.nat({ max: 4_000_000_000 }), (head, bytes) => {
      const bound = audioSecondsBound({ head, bytes })
      const typical = audioSecondsTypical({ head, bytes })
      assert.ok(Number.isInteger(bound) && Number.isInteger(typical))
      assert.ok(typical <= bound)
      assert.equal(bound > 0, bytes > 0)
      assert.equal(typical > 0, bytes > 0)
    }),
    { numRuns: 20_000 },
  )
})

test('a longer file is never said to be shorter', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(wavHead({}), Buffer.from('ID3'), Buffer.from('OggS')),
      fc.nat({ max: 100_000_000 }),
      fc.nat({ max: 100_000 }),
      (head, bytes, more) => {
        assert.ok(
          audioSecondsBound({ head, bytes: bytes + more }) >= audioSecondsBound({ head, bytes }),
        )
      },
    ),
  )
  assert.equal(audioSecondsBound({ head: wavHead({}), bytes: HEADER_BYTES + 32_000 }), 2)
})
