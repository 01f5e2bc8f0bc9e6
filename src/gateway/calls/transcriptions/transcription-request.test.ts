import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnTime } from '../../../platform/admission/own-time.ts'
import type { AudioFile } from './audio/audio-window.ts'
import { measureInTurn } from './transcription-request.ts'

/** Of FLAC, which is read to its end: its frames may have another rate. */
function flacOf(bytes: number, onRead: () => void = () => {}): AudioFile {
  const file = Buffer.alloc(bytes)
  file.write('fLaC', 'latin1')
  file[4] = 0x80
  file[7] = 34
  file.writeUInt16BE(4_096, 8)
  file.writeUInt16BE(4_096, 10)
  file.writeBigUInt64BE((44_100n << 44n) | (15n << 36n), 18)
  return {
    bytes,
    async readInto(buffer, position) {
      onRead()
      return position >= bytes ? 0 : file.copy(buffer, 0, position)
    },
  }
}

/** Each look at this clock takes a millisecond: one for each part between two reads. */
function createClock(): { now: () => number; pass: (ms: number) => void } {
  let at = 0
  return { now: () => at++, pass: (ms) => void (at += ms) }
}

test('the customer owes the time between the reads of a large file, and no other customer does', async () => {
  let paidMs = 0
  const time = createOwnTime(1, () => paidMs)
  const { now } = createClock()
  await measureInTurn(flacOf(2_000_000), 'a', time, now)
  const turn = time.turn('a')
  assert.ok(turn instanceof Promise)
  assert.equal(time.turn('b'), undefined)
  paidMs = 60_000
  await turn
})

test('the time of the reads themselves is nobody’s, and a small file is free', async () => {
  const time = createOwnTime(1, () => 0)
  const { now, pass } = createClock()
  const file = flacOf(100, () => pass(10_000))
  assert.ok((await measureInTurn(file, 'a', time, now)).secondsMax > 0)
  assert.equal(time.turn('a'), undefined)
})

test('a file that cannot be read is the caller’s failure, and the next one is measured', async () => {
  const time = createOwnTime(1)
  const broken = { bytes: 100, readInto: () => Promise.reject(new Error('broken')) }
  await assert.rejects(measureInTurn(broken, 'a', time), /broken/)
  assert.ok((await measureInTurn(flacOf(100), 'a', time)).secondsMax > 0)
})
