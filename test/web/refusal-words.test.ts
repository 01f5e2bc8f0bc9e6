/** Each reason for which the gateway refuses a call has words in the dashboard, and its bars cover the period. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals } from '../../src/gateway/calls/refusal.ts'
import { setZone } from '../../web/src/format/date.ts'
import { refusalBars } from '../../web/src/pages/usage/refusal-bars.ts'
import { makeRefusal } from '../harness/make-refusal.ts'
import { REFUSAL_WORDS, refusalWords } from '../../web/src/pages/usage/refusal-words.ts'

/** Of no call of a model. */
const OTHERS = new Set([
  'endpoint_not_available',
  'not_found',
  'response_not_found',
  'video_not_found',
  'video_not_ready',
])

test('each code of an error of a model call has its words, and no other', () => {
  const codes = new Set(
    Object.entries(refusals)
      .map((each) => makeRefusal(each).code)
      .filter((code) => !OTHERS.has(code)),
  )
  assert.deepEqual(Object.keys(REFUSAL_WORDS()).toSorted(), [...codes].toSorted())
  assert.equal(refusalWords('code_of_a_newer_server').title, 'code_of_a_newer_server')
  for (const inherited of ['constructor', '__proto__'])
    assert.equal(refusalWords(inherited).title, inherited)
})

test('the bars of a day are its hours until now, in the time zone of the customer', () => {
  setZone('America/Sao_Paulo')
  const day = { from: '2026-03-02', to: '2026-03-02', step: 'hour' as const }
  const parts = [{ starts_at: '2026-03-02T17:00:00.000Z', refusals: 7 }]
  const bars = refusalBars({ ...day, parts }, Date.parse('2026-03-02T18:30:00Z'))
  assert.equal(bars.length, 16)
  assert.deepEqual(bars.at(0), {
    id: '2026-03-02T03:00:00.000Z',
    day: '2026-03-02',
    text: '00:00',
    refusals: 0,
  })
  assert.deepEqual(bars.at(14), {
    id: '2026-03-02T17:00:00.000Z',
    day: '2026-03-02',
    text: '14:00',
    refusals: 7,
  })
  assert.equal(refusalBars({ ...day, parts }, Date.parse('2026-03-09T00:00:00Z')).length, 24)
})

test('the hour that the clock shows twice has two bars', () => {
  setZone('America/New_York')
  const day = { from: '2026-11-01', to: '2026-11-01', step: 'hour' as const }
  const parts = [{ starts_at: '2026-11-01T06:00:00.000Z', refusals: 7 }]
  const bars = refusalBars({ ...day, parts }, Date.parse('2026-11-09T00:00:00Z'))
  const twice = bars.filter(({ text }) => text === '01:00')
  assert.deepEqual(
    twice.map(({ refusals: count }) => count),
    [0, 7],
  )
  assert.equal(new Set(bars.map(({ id }) => id)).size, 25)
})

test('a longer period has a bar for each day', () => {
  setZone('America/Sao_Paulo')
  const parts = [{ starts_at: '2026-03-02T03:00:00.000Z', refusals: 7 }]
  const bars = refusalBars(
    { from: '2026-03-01', to: '2026-03-04', step: 'day', parts },
    Date.parse('2026-03-04T15:00:00Z'),
  )
  assert.deepEqual(
    bars.map(({ day, refusals: count }) => [day, count]),
    [
      ['2026-03-01', 0],
      ['2026-03-02', 7],
      ['2026-03-03', 0],
      ['2026-03-04', 0],
    ],
  )
})

test('a period of any length has bars only for the days that are kept, and for none to come', () => {
  setZone('America/Sao_Paulo')
  const period = { from: '1000-01-01', to: '2999-12-31', step: 'day' as const }
  const parts = [{ starts_at: '2026-03-04T03:00:00.000Z', refusals: 7 }]
  const bars = refusalBars({ ...period, parts }, Date.parse('2026-03-04T15:00:00Z'))
  assert.equal(bars.length, 91)
  assert.deepEqual([bars.at(0)?.day, bars.at(-1)?.day], ['2025-12-04', '2026-03-04'])
  assert.equal(bars.at(-1)?.refusals, 7)
  assert.equal(new Set(bars.map(({ text }) => text)).size, bars.length)
})
