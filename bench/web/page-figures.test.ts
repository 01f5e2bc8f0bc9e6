import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockingTime, cumulativeShift, findInteractive, type Observed } from './page-figures.ts'
import type { LoggedRequest } from './web-results.ts'

const watched: Observed = {
  firstPaintMs: 1_000,
  contentLoadedMs: 800,
  longTasks: [],
  requests: [],
  untilMs: 20_000,
}
const task = (startMs: number, durationMs: number) => ({ startMs, durationMs })
const request = (startMs: number, endMs: number | null, method = 'GET'): LoggedRequest => ({
  url: '/',
  method,
  kind: 'other',
  status: 200,
  startMs,
  endMs,
  bytes: 0,
  serverMs: null,
})

test('a page without long tasks is interactive at its first paint', () => {
  assert.equal(findInteractive(watched), 1_000)
  assert.equal(findInteractive({ ...watched, contentLoadedMs: 1_200 }), 1_200)
})

test('a page is interactive at the end of the last long task before five quiet seconds', () => {
  const longTasks = [task(500, 100), task(1_500, 200), task(6_000, 300), task(12_000, 100)]
  assert.equal(findInteractive({ ...watched, longTasks }), 6_300)
})

test('three open requests keep the network from being quiet, two do not', () => {
  const late = [task(7_500, 100)]
  const three = [request(900, 7_000), request(900, 7_000), request(900, 7_000)]
  assert.equal(findInteractive({ ...watched, longTasks: late, requests: three }), 7_600)
  assert.equal(findInteractive({ ...watched, longTasks: late, requests: three.slice(1) }), 1_000)
  const posts = three.map((each) => ({ ...each, method: 'POST' }))
  assert.equal(findInteractive({ ...watched, longTasks: late, requests: posts }), 1_000)
})

test('a page that was never quiet during the observation has no time to interactive', () => {
  const endless = [request(900, null), request(900, null), request(900, null)]
  assert.equal(findInteractive({ ...watched, requests: endless }), undefined)
  assert.equal(
    findInteractive({ ...watched, longTasks: [task(16_000, 60)], untilMs: 18_000 }),
    1_000,
  )
  assert.equal(
    findInteractive({ ...watched, longTasks: [task(5_000, 60)], untilMs: 9_000 }),
    undefined,
  )
})

test('only the part of a task beyond 50 ms blocks, and only between first paint and interactive', () => {
  const longTasks = [task(900, 200), task(2_000, 80), task(3_000, 60), task(9_000, 500)]
  assert.equal(blockingTime({ ...watched, longTasks }, 5_000), 50 + 30 + 10)
})

test('layout shifts more than a second apart are not added up', () => {
  const shift = (atMs: number, value: number) => ({ atMs, value, sources: [] })
  assert.equal(cumulativeShift([]), 0)
  assert.equal(cumulativeShift([shift(100, 0.25), shift(900, 0.5), shift(3_000, 0.5)]), 0.75)
  const steady = Array.from({ length: 8 }, (_, place) => shift(place * 900, 1))
  assert.equal(cumulativeShift(steady), 6)
})
