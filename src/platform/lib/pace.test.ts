import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPace } from './pace.ts'

/** A clock that each pause advances. */
function createClock() {
  let ms = 0
  return {
    now: () => ms,
    pause: async (more: number) => {
      ms += more
    },
  }
}

test('the first work begins at once, and more work of one subject within its own pace', async () => {
  const clock = createClock()
  const pace = createPace({ perSecond: 1_000, ownPerSecond: 100 }, clock.now, clock.pause)
  assert.equal(pace.wait('a', 50), undefined)
  await pace.wait('a', 50)
  assert.equal(clock.now(), 500)
  await pace.wait('a', 1)
  assert.equal(clock.now(), 1_000)
})

test('all subjects together keep the common pace', async () => {
  const clock = createClock()
  const pace = createPace({ perSecond: 100, ownPerSecond: 100 }, clock.now, clock.pause)
  assert.equal(pace.wait('a', 100), undefined)
  await pace.wait('b', 100)
  assert.equal(clock.now(), 1_000)
})

test('the queue of one subject does not delay another', async () => {
  const waits: number[] = []
  const pace = createPace(
    { perSecond: 1_000, ownPerSecond: 10 },
    () => 0,
    async (ms) => void waits.push(ms),
  )
  void pace.wait('a', 10)
  void pace.wait('a', 10)
  void pace.wait('a', 10)
  assert.deepEqual(waits, [1_000, 2_000])
  // Only the work that has begun counts: ten units of the common pace.
  await pace.wait('b', 10)
  assert.equal(waits[2], 10)
})
