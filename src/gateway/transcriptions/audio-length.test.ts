import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { audioSecondsBound, audioSecondsTypical } from './audio-length.ts'

const HEADER_BYTES = 44

/** The beginning of a WAV of so many bytes a second, with chunks of these lengths before its format. */
function wavHead(bytesPerSecond: number, ...chunksBefore: readonly number[]): Buffer {
  const riff = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1')
  const others = chunksBefore.map((length) => {
    const chunk = Buffer.alloc(8 + length + (length % 2))
    chunk.write('LIST', 'latin1')
    chunk.writeUInt32LE(length, 4)
    return chunk
  })
  const format = Buffer.alloc(24)
  format.write('fmt ', 'latin1')
  format.writeUInt32LE(16, 4)
  format.writeUInt32LE(bytesPerSecond, 16)
  return Buffer.concat([riff, ...others, format, Buffer.from('data\0\0\0\0', 'latin1')])
}

test('a WAV is as long as its header says, rounded up, whatever its rate', () => {
  for (const rate of [8_000, 16_000, 32_000, 176_400, 192_000]) {
    for (const [bytes, seconds] of [
      [rate, 1],
      [rate + 1, 2],
      [60 * rate, 60],
    ] as const) {
      const file = { bytes, head: wavHead(rate) }
      assert.equal(audioSecondsBound(file), seconds)
      assert.equal(audioSecondsTypical(file), seconds)
    }
  }
})

test('the format of a WAV is found behind other chunks, of odd length too', () => {
  for (const before of [[0], [10], [11], [3, 5, 700]]) {
    assert.equal(audioSecondsBound({ bytes: 320_000, head: wavHead(32_000, ...before) }), 10)
  }
})

test('MP3 is at most as long as its lowest rate allows, with a tag and without', () => {
  const heads = [
    Buffer.from('ID3\x04', 'latin1'),
    Buffer.from([0xff, 0xfb, 0x90, 0x00]),
    Buffer.from([0xff, 0xf3, 0x14, 0xc4]),
    Buffer.from([0xff, 0xe3, 0x18, 0xc4]),
  ]
  for (const head of heads) {
    assert.equal(audioSecondsBound({ bytes: 16_000, head }), 16)
    assert.equal(audioSecondsTypical({ bytes: 16_000, head }), 1)
  }
})

test('any other file is at most as long as speech codecs make it, and typically much shorter', () => {
  for (const head of [
    'OggS',
    'fLaC',
    '\x1aE\xdf\xa3',
    '\0\0\0\x20ftypM4A ',
    'RIFF\0\0\0\0AVI ',
    '',
  ]) {
    const file = { bytes: 1_000, head: Buffer.from(head, 'latin1') }
    assert.equal(audioSecondsBound(file), 4)
    assert.equal(audioSecondsTypical(file), 1)
  }
})

test('a WAV header that is cut, or tells an absurd rate, is not believed', () => {
  const whole = wavHead(32_000)
  for (let length = 0; length < 36; length++) {
    assert.equal(audioSecondsBound({ bytes: 250, head: whole.subarray(0, length) }), 1)
  }
  assert.equal(audioSecondsBound({ bytes: 2_500, head: wavHead(0) }), 10)
  assert.equal(audioSecondsBound({ bytes: 2_500, head: wavHead(1) }), 10)
})

test('for any bytes there is an answer: whole seconds, none only of nothing, the typical within the bound', () => {
  const head = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(fc.nat(), fc.array(fc.nat({ max: 40 }), { maxLength: 4 }))
      .map(([rate, chunks]) => wavHead(rate, ...chunks)),
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
      fc.constantFrom(wavHead(32_000), Buffer.from('ID3'), Buffer.from('OggS')),
      fc.nat({ max: 100_000_000 }),
      fc.nat({ max: 100_000 }),
      (head, bytes, more) => {
        assert.ok(
          audioSecondsBound({ head, bytes: bytes + more }) >= audioSecondsBound({ head, bytes }),
        )
      },
    ),
  )
  assert.equal(audioSecondsBound({ head: wavHead(32_000), bytes: HEADER_BYTES + 32_000 }), 2)
})
