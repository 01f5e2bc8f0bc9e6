import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPace, createRateLimiter, createTally } from './rate.ts'

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

function limiterAt(): {
  limiter: ReturnType<typeof createRateLimiter>
  pass: (ms: number) => void
} {
  let nowMs = 0
  return { limiter: createRateLimiter(() => nowMs), pass: (ms) => void (nowMs += ms) }
}

test('a subject takes its minute at once, and then what the minute gives back', () => {
  const { limiter, pass } = limiterAt()
  for (let taken = 0; taken < 60; taken++) assert.equal(limiter.take('a', 60), undefined)
  assert.equal(limiter.take('a', 60), 1)
  assert.equal(limiter.findWait('a', 60), 1)
  assert.equal(limiter.take('a', 60, 10), 10, 'the wait is for the whole cost')
  assert.equal(limiter.take('b', 60), undefined, 'another subject has its own minute')
  pass(1_000)
  assert.equal(limiter.take('a', 60), undefined, 'what was refused took nothing')
  assert.equal(limiter.take('a', 60), 1)
})

test('no limit is above the allowance of a minute, and a cost above it takes it whole', () => {
  const { limiter, pass } = limiterAt()
  for (const perMinute of [1, 3, 7, 100, 600]) {
    let passed = 0
    for (let tries = 0; tries < 1_000; tries++)
      if (limiter.take(`n ${perMinute}`, perMinute) === undefined) passed++
    assert.equal(passed, perMinute)
  }
  assert.equal(limiter.take('large', 2, 1_000), undefined)
  assert.equal(limiter.take('large', 2), 30)
  pass(60_000)
  assert.equal(limiter.take('large', 2, 1_000), undefined, 'after a minute all is given back')
})

test('what other processes let a subject take counts as its own', () => {
  const taken: [string, number][] = []
  const one = createRateLimiter(
    () => 0,
    (subject, ms) => taken.push([subject, ms]),
  )
  const other = createRateLimiter(() => 0)
  for (let count = 0; count < 6; count += 1) assert.equal(one.take('a', 10), undefined)
  for (const [subject, ms] of taken) other.takeElsewhere(subject, ms)
  for (let count = 0; count < 4; count += 1) assert.equal(other.take('a', 10), undefined)
  assert.equal(other.take('a', 10), 6)
  assert.equal(other.take('b', 10), undefined)
  const before = taken.length
  for (let count = 0; count < 20; count += 1) one.take('a', 10)
  assert.equal(taken.length - before, 4, 'a refused one has taken nothing')
})

test('an owner has so many in an hour, and waits for the oldest to be an hour old', () => {
  let nowMs = 1_000
  const tally = createTally({ max: 20, withinMs: 3_600_000 }, () => nowMs)
  for (let count = 0; count < 20; count++) {
    assert.equal(tally.findWait('one'), undefined)
    tally.note('one')
    nowMs += 60_000
  }
  assert.equal(tally.findWait('one'), 3_600 - 20 * 60)
  assert.equal(tally.findWait('other'), undefined)
  nowMs += 3_600_000 - 20 * 60_000
  assert.equal(tally.findWait('one'), undefined)
})
