// deep: rounds of faults over several nodes
/** The judge of the fault rounds reports violations: each rule is broken once, and reported by its name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientCall } from './client-call.ts'
import { BALANCED_RULE, compareCounts, PAYMENTS_RULE, type Seen } from './compare-counts.ts'
import type { LedgerCall } from './read-ledger.ts'
import { ALL_FAULTS, createPlanner } from './plan-rounds.ts'
import { priceOf } from './upstream-process.ts'
import type { UpstreamRecord } from './upstream-record.ts'

const HOLD = '01a20527-ffa2-7000-bee6-f3c6ffe15788'
const REQUEST = 'b8e8f1f4-7a3e-4a3c-9f6e-0d7d1a2b3c4d'
const CUSTOMER = '01a20527-0000-7000-8000-000000000001'
const TOKENS = { promptTokens: 100, completionTokens: 150 }
const PRICE = priceOf(TOKENS)

const CALL: ClientCall = {
  requestId: REQUEST,
  customerId: CUSTOMER,
  keyId: 'key',
  node: 0,
  isBalanced: false,
  model: 'stops-quick',
  isStream: false,
  startedAtMs: 100_000,
  endedAtMs: 101_000,
  status: 200,
  ending: 'whole',
  costBilledBrl: '0.054600000',
  error: undefined,
  deltas: 0,
}
const RECORD: UpstreamRecord = {
  holdId: HOLD,
  requestId: REQUEST,
  isStream: false,
  ...TOKENS,
  reasoningTokens: 50,
  isRefused: false,
  hasAnswered: true,
}
const CHARGED: LedgerCall = {
  holdId: HOLD,
  requestId: REQUEST,
  customerId: CUSTOMER,
  billedNanoBrl: PRICE,
  completionTokens: 150,
  outcomes: 1,
  outcome: 'charged',
  usageKinds: ['exact'],
  reasons: [''],
  corrections: 0,
}
const RELEASED: LedgerCall = {
  ...CHARGED,
  billedNanoBrl: 0n,
  completionTokens: 0,
  outcome: 'released',
}

function rulesBroken(changes: {
  call?: Partial<ClientCall>
  records?: UpstreamRecord[]
  ledger?: LedgerCall[]
  more?: Partial<Seen>
  chargedNanoBrl?: bigint
}): string[] {
  const ledger = changes.ledger ?? [CHARGED]
  const chargedNanoBrl =
    changes.chargedNanoBrl ?? ledger.reduce((sum, { billedNanoBrl }) => sum + billedNanoBrl, 0n)
  const creditedNanoBrl = 100_000_000n
  const key = { id: 'key', secret: '' }
  const { discrepancies } = compareCounts({
    calls: [{ ...CALL, ...changes.call }],
    records: changes.records ?? [RECORD],
    ledger,
    accounts: [
      {
        customerId: CUSTOMER,
        creditedNanoBrl,
        debitedNanoBrl: 0n,
        chargedNanoBrl,
        heldNanoBrl: 0n,
        correctedNanoBrl: 0n,
      },
    ],
    purses: [
      {
        customerId: CUSTOMER,
        isPoor: true,
        teamId: undefined,
        key,
        creditedNanoBrl,
        debitedNanoBrl: 0n,
      },
    ],
    checkpoints: new Map(),
    revokedAtMs: new Map(),
    // Faults of this node, until just before the call.
    disturbances: [{ node: 0, fromMs: 0, toMs: 99_000 }],
    ...changes.more,
  })
  return discrepancies.map(({ rule }) => rule)
}

const left = { ending: 'left', costBilledBrl: undefined } as const
const broken = { ending: 'part', costBilledBrl: undefined, isStream: true } as const

test('consistent counts have no discrepancy', () => {
  assert.equal(PRICE, 54_600_000n)
  assert.deepEqual(rulesBroken({}), [])
  assert.deepEqual(rulesBroken({ call: left }), [])
  assert.deepEqual(rulesBroken({ call: left, ledger: [RELEASED] }), [])
  assert.deepEqual(rulesBroken({ call: broken, ledger: [{ ...CHARGED, billedNanoBrl: 1n }] }), [])
})

test('a complete answer that is free, undercharged or charged twice is reported', () => {
  assert.deepEqual(rulesBroken({ ledger: [] }), ['a complete answer is charged'])
  assert.deepEqual(rulesBroken({ ledger: [RELEASED] }), ['a complete answer is charged'])
  assert.deepEqual(rulesBroken({ ledger: [{ ...CHARGED, billedNanoBrl: PRICE - 1n }] }), [
    'a complete answer is charged the cost that it shows',
  ])
  const again = { ...CHARGED, holdId: '01a20527-ffa2-7000-bee6-f3c6ffe15789' }
  const records = [RECORD, { ...RECORD, holdId: again.holdId }]
  const twice = rulesBroken({ ledger: [CHARGED, again], records })
  assert.ok(twice.includes('a call is charged once'), twice.join(', '))
  assert.ok(
    rulesBroken({ call: { costBilledBrl: '0.05' } }).includes(
      "an answer shows the cost of the upstream's usage",
    ),
  )
})

test('a charge without a call of the upstream, an answer or any usage is reported', () => {
  assert.deepEqual(rulesBroken({ call: left, records: [] }), [
    'a hold without a call of the upstream is not charged',
  ])
  assert.ok(
    rulesBroken({ call: left, records: [{ ...RECORD, isRefused: true }] }).includes(
      'a call that the upstream refused is not charged',
    ),
  )
  assert.deepEqual(rulesBroken({ call: left, records: [{ ...RECORD, hasAnswered: false }] }), [
    "a plain call is charged the upstream's usage, or nothing",
  ])
  assert.deepEqual(rulesBroken({ call: left, ledger: [{ ...CHARGED, billedNanoBrl: 1n }] }), [
    "a plain call is charged the upstream's usage, or nothing",
  ])
  assert.deepEqual(
    rulesBroken({ call: broken, ledger: [{ ...CHARGED, billedNanoBrl: PRICE + 1n }] }),
    ["a call is charged at most the upstream's usage"],
  )
  assert.ok(
    rulesBroken({ call: left, ledger: [{ ...CHARGED, billedNanoBrl: -1n }] }).includes(
      'no call has a negative charge',
    ),
  )
})

test('a broken stream that is charged below its checkpoint is reported', () => {
  const more = { checkpoints: new Map([[HOLD, 10]]) }
  assert.deepEqual(rulesBroken({ call: broken, ledger: [RELEASED], more }), [
    'a broken stream is charged at least to its checkpoint',
  ])
  const lapsed = { ...CHARGED, billedNanoBrl: 1n, completionTokens: 7, reasons: ['lease_lapsed'] }
  assert.deepEqual(rulesBroken({ call: { ...broken, deltas: 7 }, ledger: [lapsed], more }), [])
  assert.deepEqual(rulesBroken({ call: { ...broken, deltas: 8 }, ledger: [lapsed], more }), [
    'a stream whose node lost its lease is charged its delivered part',
  ])
})

test('two first outcomes, a second correction and an answer to a revoked key are reported', () => {
  assert.deepEqual(rulesBroken({ ledger: [{ ...CHARGED, outcomes: 2 }] }), [
    'a hold has one first outcome',
  ])
  assert.deepEqual(rulesBroken({ ledger: [{ ...CHARGED, corrections: 3 }] }), [
    'a hold is corrected once',
  ])
  assert.deepEqual(rulesBroken({ more: { revokedAtMs: new Map([['key', 99_000]]) } }), [
    'a revoked key gets no answer',
  ])
})

test('an overspent account, an unexplained credit and an open hold are reported', () => {
  assert.deepEqual(rulesBroken({ chargedNanoBrl: 100_000_001n }), ['nobody overspends'])
  const account = {
    customerId: CUSTOMER,
    creditedNanoBrl: 50_000_000n,
    debitedNanoBrl: 0n,
    chargedNanoBrl: PRICE,
    heldNanoBrl: 1n,
    correctedNanoBrl: 0n,
  }
  assert.deepEqual(rulesBroken({ more: { accounts: [account] } }), [
    'every credit and debit was made by this run',
    'no hold stays open',
    'nobody overspends',
    'no customer receives more than was paid',
  ])
})

test('far from any fault every call is answered, and a client that leaves pays', () => {
  const more = { disturbances: [{ node: 1, fromMs: 0, toMs: 200_000 }] }
  assert.deepEqual(rulesBroken({ call: broken, more }), [
    'a call far from any fault is answered or refused',
  ])
  assert.deepEqual(rulesBroken({ call: left, ledger: [RELEASED], more }), [
    'a client that leaves pays for the answer',
  ])
})

test('the call of a client that leaves shortly before a fault may be lost with its node: it was still running', () => {
  const more = { disturbances: [{ node: 0, fromMs: 120_000, toMs: 150_000 }] }
  assert.deepEqual(rulesBroken({ call: left, ledger: [RELEASED], more }), [])
})

test('through the balancer no call fails while nodes are replaced, unless a fault is near', () => {
  const replaced = { node: undefined, fromMs: 90_000, toMs: 110_000, isPlanned: true }
  const more = { disturbances: [replaced] }
  const lost = { isBalanced: true, costBilledBrl: undefined } as const
  const dropped = { ...lost, ending: 'dropped', status: undefined } as const
  const refused = { ...lost, ending: 'refused', status: 503 } as const
  const cut = { ...lost, ending: 'part', isStream: true } as const
  assert.deepEqual(rulesBroken({ call: { isBalanced: true }, more }), [])
  for (const call of [dropped, refused, cut])
    assert.ok(rulesBroken({ call, more }).includes(BALANCED_RULE), call.ending)
  // A client that chose the node by itself may find it gone.
  assert.deepEqual(rulesBroken({ call: { ...dropped, isBalanced: false }, more }), [])
  // A fault of any node may be the cause.
  const fault = { node: 2, fromMs: 102_000, toMs: 105_000 }
  assert.deepEqual(rulesBroken({ call: dropped, more: { disturbances: [replaced, fault] } }), [])
})

test('the running call of a revoked key may be cut off, and no call of another key', () => {
  const withRevoked = (atMs: number) => ({
    disturbances: [{ node: 1, fromMs: 0, toMs: 200_000 }],
    revokedAtMs: new Map([['key', atMs]]),
  })
  assert.deepEqual(rulesBroken({ call: broken, more: withRevoked(100_500) }), [])
  assert.deepEqual(rulesBroken({ call: broken, more: withRevoked(180_000) }), [
    'a call far from any fault is answered or refused',
  ])
})

test('through the balancer a revoked key and a fault of the upstream are refused, and nothing else', () => {
  const refused = {
    isBalanced: true,
    costBilledBrl: undefined,
    ending: 'refused',
    status: 401,
  } as const
  const disturbances = [{ node: undefined, fromMs: 90_000, toMs: 110_000, isPlanned: true }]
  const withRevoked = (atMs: number) => ({
    disturbances,
    revokedAtMs: new Map([['key', atMs]]),
  })
  assert.deepEqual(rulesBroken({ call: refused, ledger: [], more: withRevoked(101_500) }), [])
  assert.deepEqual(rulesBroken({ call: refused, ledger: [], more: withRevoked(180_000) }), [
    BALANCED_RULE,
  ])
  const failed = { call: { ...refused, status: 502 }, ledger: [RELEASED], more: { disturbances } }
  assert.deepEqual(rulesBroken({ ...failed, records: [{ ...RECORD, isRefused: true }] }), [])
  assert.deepEqual(rulesBroken(failed), [BALANCED_RULE])
})

test('a balance that differs from what the processor says was paid and refunded is reported', () => {
  const purse = {
    customerId: CUSTOMER,
    isPoor: true,
    teamId: undefined,
    payments: {
      topUpIds: new Set<string>(),
      topUp: () => Promise.resolve(),
      refund: () => Promise.resolve(),
    },
    key: { id: 'key', secret: '' },
  }
  const paid = (creditedNanoBrl: bigint, debitedNanoBrl: bigint): string[] =>
    rulesBroken({ more: { purses: [{ ...purse, creditedNanoBrl, debitedNanoBrl }] } })
  assert.deepEqual(paid(100_000_000n, 0n), [])
  // A refund that failed was debited and credited again.
  assert.deepEqual(paid(130_000_000n, 30_000_000n), [])
  assert.deepEqual(paid(100_000_001n, 0n), [PAYMENTS_RULE])
  assert.deepEqual(paid(100_000_000n, 1n), [PAYMENTS_RULE])
})

test('a seed gives the same rounds each time, and 208 rounds have every fault', () => {
  const roundsOf = (seed: number) => {
    const planner = createPlanner(seed)
    return Array.from({ length: 16 }, () => planner.nextEpisode(13)).flatMap(
      ({ planned, tracks }) => [...planned, ...tracks.flat()],
    )
  }
  assert.deepEqual(roundsOf(7), roundsOf(7))
  assert.notDeepEqual(roundsOf(7), roundsOf(8))
  const faults = new Set(roundsOf(7).map(({ fault }) => fault))
  assert.deepEqual([...faults].toSorted(), [...ALL_FAULTS].toSorted())
})
