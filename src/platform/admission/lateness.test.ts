import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { watchLateness } from './lateness.ts'

function block(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
}

test('turns that are long for seconds show, one long pause does not, and it passes', async (t) => {
  const lateness = watchLateness()
  t.after(() => lateness.close())
  await sleep(200)
  block(2_000)
  await sleep(120)
  assert.ok(lateness.ms < 100, `${lateness.ms} ms after one pause`)
  for (let turn = 0; turn < 12; turn += 1) {
    block(300)
    await setImmediate()
  }
  const busyMs = lateness.ms
  assert.ok(busyMs > 100, `${busyMs} ms while busy`)
  await sleep(1_500)
  assert.ok(lateness.ms < busyMs / 2, `${lateness.ms} ms afterwards`)
})
