import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCircuitBreaker, type CircuitBreaker } from './circuit-breaker.ts'

interface TestBreaker {
  readonly breaker: CircuitBreaker
  /** Lets time pass. */
  readonly pass: (ms: number) => void
  /** One call from its beginning to its end. */
  readonly call: (end: 'succeed' | 'fail' | 'abstain', times?: number) => void
}

function createTestBreaker(failures = 3, openMs = 1_000): TestBreaker {
  let nowMs = 5_000
  const breaker = createCircuitBreaker({ failures, openMs }, () => nowMs)
  return {
    breaker,
    pass: (ms) => void (nowMs += ms),
    call(end, times = 1) {
      for (let i = 0; i < times; i++) {
        breaker.begin()
        breaker[end]()
      }
    },
  }
}

test('it opens with as many failures in a row as it was told, and lets no call go', () => {
  const { breaker, call } = createTestBreaker()
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
  assert.equal(breaker.allows, true)
  call('fail')
  assert.equal(breaker.state, 'open')
  assert.equal(breaker.allows, false)
})

test('a success in between starts the row again', () => {
  const { breaker, call } = createTestBreaker()
  call('fail', 2)
  call('succeed')
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
})

test('a call that says nothing of the route neither ends a row nor adds to it', () => {
  const { breaker, call } = createTestBreaker()
  call('fail', 2)
  call('abstain', 10)
  assert.equal(breaker.state, 'closed')
  call('fail')
  assert.equal(breaker.state, 'open')
})

test('it stays open for its time to the millisecond; then one call goes and no other', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(999)
  assert.equal(breaker.state, 'open')
  pass(1)
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.allows, true)
  breaker.begin()
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.allows, false)
})

test('the call that tries it closes it by a success, and the row starts at nothing', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000)
  call('succeed')
  assert.equal(breaker.state, 'closed')
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
  call('fail')
  assert.equal(breaker.state, 'open')
})

test('each failed try doubles the time that it stays open, up to a minute; a success forgets that', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  for (const openMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    pass(openMs - 1)
    assert.equal(breaker.state, 'open', `after ${openMs - 1} ms`)
    pass(1)
    assert.equal(breaker.state, 'half_open', `after ${openMs} ms`)
    call('fail')
  }
  pass(60_000)
  call('succeed')
  call('fail', 3)
  pass(1_000)
  assert.equal(breaker.state, 'half_open')
})

test('a try that says nothing leaves the next call to try', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000)
  call('abstain')
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.allows, true)
})

test('calls that began before it opened and fail after it keep it open no longer', () => {
  const { breaker, pass, call } = createTestBreaker()
  for (let i = 0; i < 10; i++) breaker.begin()
  for (let i = 0; i < 10; i++) breaker.fail()
  assert.equal(breaker.state, 'open')
  pass(1_000)
  assert.equal(breaker.state, 'half_open')
  call('fail')
  pass(1_999)
  assert.equal(breaker.state, 'open', 'it doubled once and not ten times')
  pass(1)
  assert.equal(breaker.state, 'half_open')
})

test('nobody tries it for five minutes: it is closed again', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000 + 299_999)
  assert.equal(breaker.state, 'half_open')
  pass(1)
  assert.equal(breaker.state, 'closed')
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
})

test('while a call tries it, it is not forgotten: the answer of that call decides', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000)
  breaker.begin()
  pass(600_000)
  assert.equal(breaker.state, 'half_open')
  breaker.fail()
  assert.equal(breaker.state, 'open')
})

test('a route that fails every second call opens with the twentieth call of ten seconds', () => {
  const { breaker, call } = createTestBreaker()
  for (let i = 0; i < 9; i++) {
    call('succeed')
    call('fail')
  }
  call('succeed')
  assert.equal(breaker.state, 'closed')
  call('fail')
  assert.equal(breaker.state, 'open')
})

test('a route that fails less than every second call stays closed', () => {
  const { breaker, pass, call } = createTestBreaker()
  for (let i = 0; i < 500; i++) {
    call('succeed', 2)
    call('fail')
    pass(i % 7)
  }
  assert.equal(breaker.state, 'closed')
})

test('calls of more than ten seconds ago are not counted', () => {
  const { breaker, pass, call } = createTestBreaker()
  for (let i = 0; i < 9; i++) {
    call('succeed')
    call('fail')
  }
  pass(10_001)
  for (let i = 0; i < 9; i++) {
    call('succeed')
    call('fail')
  }
  assert.equal(breaker.state, 'closed')
})

test('with 0 failures it never opens, whatever happens', () => {
  const { breaker, call } = createTestBreaker(0)
  call('fail', 1_000)
  assert.equal(breaker.state, 'closed')
  assert.equal(breaker.allows, true)
})

test('whatever happens in whatever order: closed lets calls go, open lets none, half open one at most', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 90_000 }) }),
    fc.record({
      kind: fc.constant('call' as const),
      end: fc.constantFrom('succeed' as const, 'fail' as const, 'abstain' as const),
    }),
  )
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.integer({ min: 0, max: 5 }),
      (steps, failures) => {
        const { breaker, pass, call } = createTestBreaker(failures, 500)
        let row = 0
        for (const each of steps) {
          if (each.kind === 'pass') {
            const before = breaker.state
            pass(each.ms)
            if (before !== 'closed' && breaker.state === 'closed') row = 0
            continue
          }
          const was = breaker.state
          assert.equal(breaker.allows, was !== 'open')
          // A caller asks before it begins.
          if (was === 'open') continue
          call(each.end)
          if (each.end === 'fail') row += 1
          if (each.end === 'succeed') row = 0
          if (each.end === 'succeed') assert.equal(breaker.state, 'closed')
          if (each.end === 'fail' && was === 'half_open') assert.equal(breaker.state, 'open')
          if (failures === 0) assert.equal(breaker.state, 'closed')
          else if (row >= failures && each.end === 'fail') assert.equal(breaker.state, 'open')
        }
      },
    ),
    { numRuns: 500 },
  )
})
