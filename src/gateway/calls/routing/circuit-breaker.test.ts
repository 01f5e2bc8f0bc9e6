import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../test/harness/fast-check.ts'
import { createCircuitBreaker, type CircuitBreaker } from './circuit-breaker.ts'

interface TestBreaker {
  readonly breaker: CircuitBreaker
  /** Advances the clock. */
  readonly pass: (ms: number) => void
  /** Runs one call to its end. */
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

test('it opens after the configured number of consecutive failures, and then no call passes', () => {
  const { breaker, call } = createTestBreaker()
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
  assert.equal(breaker.allows(), true)
  call('fail')
  assert.equal(breaker.state, 'open')
  assert.equal(breaker.allows(), false)
})

test('a success resets the consecutive failures', () => {
  const { breaker, call } = createTestBreaker()
  call('fail', 2)
  call('succeed')
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
})

test('an abstaining call neither resets nor adds to the consecutive failures', () => {
  const { breaker, call } = createTestBreaker()
  call('fail', 2)
  call('abstain', 10)
  assert.equal(breaker.state, 'closed')
  call('fail')
  assert.equal(breaker.state, 'open')
})

test('it stays open for its pause to the millisecond; then one call passes and no other', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(999)
  assert.equal(breaker.state, 'open')
  pass(1)
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.allows(), true)
  breaker.begin()
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.allows(), false)
})

test('a successful probe closes it, and the consecutive failures start at zero', () => {
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

test('each failed probe doubles the pause, up to a minute; a success resets it', () => {
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

test('after an abstaining probe the next call is the probe', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000)
  call('abstain')
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.allows(), true)
})

test('calls that began before it opened and fail afterwards do not extend the pause', () => {
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

test('after five minutes without a probe it closes', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000 + 299_999)
  assert.equal(breaker.state, 'half_open')
  pass(1)
  assert.equal(breaker.state, 'closed')
  call('fail', 2)
  assert.equal(breaker.state, 'closed')
})

test('while a probe runs it stays half open, and the result of the probe decides', () => {
  const { breaker, pass, call } = createTestBreaker()
  call('fail', 3)
  pass(1_000)
  breaker.begin()
  pass(600_000)
  assert.equal(breaker.state, 'half_open')
  breaker.fail()
  assert.equal(breaker.state, 'open')
})

test('a route that fails every second call opens at the twentieth call within ten seconds', () => {
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

test('calls older than ten seconds are not counted', () => {
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

test('with `failures: 0` it never opens', () => {
  const { breaker, call } = createTestBreaker(0)
  call('fail', 1_000)
  assert.equal(breaker.state, 'closed')
  assert.equal(breaker.allows(), true)
})

test('in any order of events, closed lets all calls pass, open none, and half open one at most', () => {
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
          assert.equal(breaker.allows(), was !== 'open')
          // Callers check `allows` before they begin.
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

test('failures of one customer stop that customer alone; one of another stops everybody', () => {
  const { breaker } = createTestBreaker()
  const failFor = (customerId: string): void => {
    breaker.begin()
    breaker.fail(customerId)
  }
  for (let i = 0; i < 10; i++) if (breaker.allows('one')) failFor('one')
  assert.equal(breaker.state, 'open')
  assert.equal(breaker.allows('one'), false)
  assert.equal(breaker.allows('other'), true)
  failFor('other')
  for (const customer of ['one', 'other', 'third']) assert.equal(breaker.allows(customer), false)
})

test('a success of another customer closes what the failures of one had opened', () => {
  const { breaker } = createTestBreaker()
  for (let i = 0; i < 3; i++) breaker.fail('one')
  breaker.begin()
  breaker.succeed()
  assert.equal(breaker.state, 'closed')
  assert.equal(breaker.allows('one'), true)
})

test('in any order of calls, one customer whose calls fail never stops others, whose calls succeed', () => {
  const step = fc.record({
    customer: fc.constantFrom('bogus', 'left', 'right'),
    ms: fc.integer({ min: 0, max: 20_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const { breaker, pass } = createTestBreaker()
      for (const { customer, ms } of steps) {
        pass(ms)
        if (customer !== 'bogus') assert.ok(breaker.allows(customer))
        if (!breaker.allows(customer)) continue
        breaker.begin()
        if (customer === 'bogus') breaker.fail(customer)
        else breaker.succeed()
      }
    }),
    { numRuns: 500 },
  )
})

/** Opens it for everybody, and lets its pause pass. */
function openForAll({ breaker, pass }: TestBreaker): void {
  for (const customer of ['bogus', 'left', 'right']) {
    breaker.begin()
    breaker.fail(customer)
  }
  assert.equal(breaker.allows('left'), false)
  pass(1_000)
}

test('after an outage, one customer whose probes fail does not keep the probes of others away', () => {
  const tested = createTestBreaker()
  const { breaker } = tested
  openForAll(tested)
  breaker.begin()
  breaker.fail('bogus')
  assert.equal(breaker.allows('bogus'), false)
  assert.equal(breaker.allows('left'), true)
  breaker.begin()
  assert.equal(breaker.allows('right'), false, 'one probe at a time')
  breaker.succeed()
  assert.equal(breaker.state, 'closed')
})

test('in an outage, the probes of two customers are all that fail in each pause', () => {
  const tested = createTestBreaker()
  const { breaker, pass } = tested
  openForAll(tested)
  let probes = 0
  for (let customer = 0; customer < 1_000; customer++) {
    const id = String(customer)
    if (!breaker.allows(id)) continue
    breaker.begin()
    breaker.fail(id)
    probes += 1
  }
  assert.equal(probes, 2)
  pass(1_999)
  assert.equal(breaker.allows('left'), false)
  pass(1)
  assert.equal(breaker.allows('left'), true)
})

test('the pause of one customer whose calls fail again and again is not the pause of all', () => {
  const { breaker, pass } = createTestBreaker()
  for (let i = 0; i < 8; i++) {
    while (breaker.allows('bogus')) {
      breaker.begin()
      breaker.fail('bogus')
    }
    pass(60_000)
  }
  breaker.begin()
  breaker.fail('left')
  assert.equal(breaker.allows('right'), false)
  pass(1_000)
  assert.equal(breaker.allows('right'), true)
})

test('another customer’s failure counts, whatever ended beside it', () => {
  const { breaker } = createTestBreaker()
  for (let i = 0; i < 3; i++) breaker.fail('bogus')
  breaker.begin()
  breaker.begin()
  breaker.abstain()
  breaker.fail('left')
  assert.equal(breaker.allows('right'), false)
})

test('a probe that takes as long as a pause does not keep the next one away', () => {
  const tested = createTestBreaker()
  const { breaker, pass } = tested
  openForAll(tested)
  // As a plain call of a model that thinks for minutes.
  breaker.begin()
  pass(999)
  assert.equal(breaker.allows('left'), false)
  pass(1)
  assert.equal(breaker.allows('left'), true)
  breaker.begin()
  assert.equal(breaker.allows('right'), false)
  breaker.succeed()
  assert.equal(breaker.state, 'closed')
})

test('a customer that leaves each of its probes does not keep those of others away', () => {
  const tested = createTestBreaker()
  const { breaker, pass } = tested
  openForAll(tested)
  breaker.begin('leaving')
  pass(999)
  breaker.abstain('leaving')
  assert.equal(breaker.allows('leaving'), false, 'others first')
  assert.equal(breaker.allows('left'), true)
  breaker.begin('left')
  assert.equal(breaker.allows('leaving'), false, 'one probe at a time')
  breaker.abstain('left')
  assert.equal(breaker.allows('leaving'), true)
})

test('a customer whose probe lasts is not the next one, until others had a pause for theirs', () => {
  const tested = createTestBreaker()
  const { breaker, pass } = tested
  openForAll(tested)
  breaker.begin('lasting')
  pass(1_000)
  assert.equal(breaker.allows('lasting'), false)
  assert.equal(breaker.allows('left'), true)
  pass(1_000)
  assert.equal(breaker.allows('lasting'), true, 'a server with one customer tries again')
})

test('a customer that leaves an old probe does not end the one of another customer', () => {
  const tested = createTestBreaker()
  const { breaker, pass } = tested
  openForAll(tested)
  breaker.begin('leaving')
  pass(1_000)
  breaker.begin('left')
  breaker.abstain('leaving')
  assert.equal(breaker.allows('right'), false, 'one probe at a time')
  breaker.fail('left')
  assert.equal(breaker.allows('left'), false, 'its failure counts')
})

test('after a refused probe the next call is the probe, whoever it is, and refused ones in a row keep nobody away', () => {
  const tested = createTestBreaker()
  const { breaker } = tested
  openForAll(tested)
  for (let turn = 0; turn < 100; turn++) {
    for (const customer of ['refused', 'left']) assert.ok(breaker.allows(customer))
    breaker.begin('refused')
    assert.equal(breaker.allows('left'), turn > 0, 'one probe at a time, but for a new customer')
    breaker.refuse('refused')
    assert.equal(breaker.state, 'half_open')
  }
  breaker.begin('left')
  breaker.refuse('refused')
  assert.equal(breaker.allows('right'), false, 'an earlier one ends no other')
})

test('customers that leave their probes in turn do not keep those of others away', () => {
  const tested = createTestBreaker()
  const { breaker, pass } = tested
  openForAll(tested)
  for (const customer of ['leaving', 'lasting']) {
    breaker.begin(customer)
    pass(999)
    assert.equal(breaker.allows('left'), false, 'one probe at a time')
    breaker.abstain(customer)
  }
  for (let turn = 0; turn < 100; turn++)
    for (const customer of ['leaving', 'lasting']) {
      pass(1)
      assert.ok(breaker.allows(customer))
      breaker.begin(customer)
      assert.ok(breaker.allows('left'))
      pass(900)
      assert.ok(breaker.allows('left'))
      breaker.abstain(customer)
    }
  breaker.begin('left')
  assert.equal(breaker.allows('leaving'), false, 'nor do they disturb them')
  breaker.succeed()
  assert.equal(breaker.state, 'closed')
})

interface KnownProbe {
  readonly customer: string
  /** Of its customer before this one. */
  readonly earlier: number
  readonly atMs: number
  leftAtMs?: number
}

/** Whether this customer's call may be a probe, from the list of all probes since the breaker opened. */
function mayProbeNow(probes: readonly KnownProbe[], customer: string, nowMs: number): boolean {
  const last = probes.at(-1)
  if (!last) return true
  const overAtMs = Math.min(last.leftAtMs ?? Infinity, last.atMs + 1_000)
  if (last.customer === customer) return nowMs >= overAtMs + 1_000
  const own = probes.filter((probe) => probe.customer === customer).length
  return nowMs >= overAtMs || own < last.earlier
}

test('in any order of probes that are left, each customer keeps another one away once for a pause at most', () => {
  const leaving = ['a', 'b', 'c', 'd']
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 1_500 }),
    customer: fc.constantFrom(...leaving),
    leaves: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const tested = createTestBreaker()
      const { breaker, pass } = tested
      openForAll(tested)
      const probes: KnownProbe[] = []
      let nowMs = 0
      let closedMs = 0
      for (const { ms, customer, leaves } of steps) {
        // Half open, whatever has been left.
        if (nowMs + ms >= 299_000) break
        // The time in which the other one may not, to the end of the pause.
        const last = probes.at(-1)
        if (!breaker.allows('other') && last) closedMs += Math.min(ms, last.atMs + 1_000 - nowMs)
        pass(ms)
        nowMs += ms
        for (const each of [...leaving, 'other'])
          assert.equal(
            breaker.allows(each),
            mayProbeNow(probes, each, nowMs),
            `${each} at ${nowMs}`,
          )
        const running = probes.findLast((probe) => probe.customer === customer)
        if (leaves && running && running.leftAtMs === undefined) {
          running.leftAtMs = nowMs
          breaker.abstain(customer)
        } else if (breaker.allows(customer)) {
          const earlier = probes.filter((probe) => probe.customer === customer).length
          probes.push({ customer, earlier, atMs: nowMs })
          breaker.begin(customer)
        }
        assert.equal(breaker.state, 'half_open', 'what is left is no verdict')
      }
      assert.ok(closedMs <= leaving.length * 1_000, `${closedMs} ms`)
      pass(1_000)
      assert.ok(breaker.allows('other'))
      breaker.begin('other')
      breaker.succeed()
      assert.equal(breaker.state, 'closed')
    }),
    { numRuns: 500 },
  )
})
