import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter } from './rate-limiter.ts'

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
