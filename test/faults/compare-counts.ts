/** The published rule, call by call: what the upstream sent, what the client got, what the ledger charged. */
import { parseBrl } from '../../src/lib/money.ts'
import type { ClientCall } from './client-call.ts'
import type { LedgerAccount, LedgerCall } from './read-ledger.ts'
import type { Purse } from './purses.ts'
import { priceOf } from './upstream-process.ts'
import type { UpstreamRecord } from './upstream-record.ts'

export interface Difference {
  readonly rule: string
  readonly requestId?: string
  readonly detail: string
}

export interface Counts {
  readonly calls: number
  readonly whole: number
  readonly part: number
  readonly refused: number
  readonly dropped: number
  readonly left: number
  readonly charged: number
  readonly released: number
  readonly corrected: number
  /** Refused by us, and charged: the commit was made, and its answer was lost on the way to the node. */
  readonly refusedAndCharged: number
  /** Far from any fault: of these more is demanded. */
  readonly undisturbed: number
}

export interface Seen {
  readonly calls: readonly ClientCall[]
  readonly records: readonly UpstreamRecord[]
  readonly ledger: readonly LedgerCall[]
  readonly accounts: readonly LedgerAccount[]
  readonly purses: readonly Purse[]
  /** Output tokens of the furthest checkpoint that was seen, by hold. */
  readonly checkpoints: ReadonlyMap<string, number>
  readonly revokedAtMs: ReadonlyMap<string, number>
  /** Of a node, or of all. */
  readonly disturbances: readonly Disturbance[]
}

export interface Disturbance {
  readonly node: number | undefined
  readonly fromMs: number
  readonly toMs: number
}

/** After a fault nothing is expected of a node for so long, and of a call that ended so shortly before one. */
const RECOVERY_MS = 30_000
const BEFORE_MS = 3_000
/** A call that its client left runs on: the longest answer of the upstream takes 20 s. */
const LEFT_BEFORE_MS = 25_000

export function compareCounts(seen: Seen): { counts: Counts; differences: Difference[] } {
  const recordOf = new Map(seen.records.map((record) => [record.holdId, record]))
  const ledgerOf = Map.groupBy(seen.ledger, ({ requestId }) => requestId)
  const differences: Difference[] = []
  let refusedAndCharged = 0
  let undisturbed = 0
  for (const call of seen.calls) {
    const ledger = ledgerOf.get(call.requestId) ?? []
    const add = (rule: string, detail: string): void =>
      void differences.push({
        rule,
        requestId: call.requestId,
        detail: describe(call, ledger, detail),
      })
    judgeCall(call, ledger, recordOf, seen, add)
    if (!isDisturbed(call, seen)) {
      undisturbed += 1
      judgeUndisturbed(call, ledger, recordOf, add)
    }
    if (call.ending === 'refused' && ledger.some(({ billedNanoBrl }) => billedNanoBrl > 0n))
      refusedAndCharged += 1
  }
  for (const call of seen.ledger) {
    if (call.outcomes !== 1)
      differences.push({
        rule: 'a hold has one first outcome',
        requestId: call.requestId,
        detail: call.holdId,
      })
    if (call.corrections > 2)
      differences.push({
        rule: 'a hold is corrected once',
        requestId: call.requestId,
        detail: call.holdId,
      })
  }
  differences.push(...judgeAccounts(seen))
  const ending = Map.groupBy(seen.calls, (call) => call.ending)
  const size = (name: ClientCall['ending']): number => ending.get(name)?.length ?? 0
  return {
    differences,
    counts: {
      calls: seen.calls.length,
      whole: size('whole'),
      part: size('part'),
      refused: size('refused'),
      dropped: size('dropped'),
      left: size('left'),
      charged: seen.ledger.filter(({ billedNanoBrl }) => billedNanoBrl > 0n).length,
      released: seen.ledger.filter(({ billedNanoBrl }) => billedNanoBrl === 0n).length,
      corrected: seen.ledger.filter(({ corrections }) => corrections > 0).length,
      refusedAndCharged,
      undisturbed,
    },
  }
}

function judgeCall(
  call: ClientCall,
  ledger: readonly LedgerCall[],
  recordOf: ReadonlyMap<string, UpstreamRecord>,
  seen: Seen,
  add: (rule: string, detail: string) => void,
): void {
  const charged = ledger.filter(({ billedNanoBrl }) => billedNanoBrl !== 0n)
  const billed = charged.reduce((sum, { billedNanoBrl }) => sum + billedNanoBrl, 0n)
  if (charged.length > 1) add('a call is charged once', `${charged.length} holds are charged`)

  if (call.ending === 'whole') {
    const told = call.costBilledBrl === undefined ? undefined : parseBrl(call.costBilledBrl)
    if (billed === 0n) add('an answer that was received whole is charged', `told ${told}`)
    else if (billed !== told)
      add('an answer that was received whole is charged as it says', `told ${told}`)
    const revokedAtMs = seen.revokedAtMs.get(call.keyId)
    if (revokedAtMs !== undefined && call.startedAtMs > revokedAtMs)
      add('a revoked key gets no answer', `revoked ${call.startedAtMs - revokedAtMs} ms before`)
  }
  for (const { holdId, billedNanoBrl, completionTokens, reasons } of ledger) {
    const record = recordOf.get(holdId)
    const checkpoint = seen.checkpoints.get(holdId) ?? 0
    if (!record) {
      if (billedNanoBrl !== 0n) add('what no upstream was asked for is not charged', holdId)
      continue
    }
    const price = priceOf(record)
    if (record.isRefused && billedNanoBrl !== 0n)
      add('what an upstream refused is not charged', holdId)
    if (billedNanoBrl < 0n) add('no call is charged less than nothing', holdId)
    if (billedNanoBrl > price) add('a call is charged at most what the upstream says', `${price}`)
    if (call.ending === 'whole') {
      if (parseBrl(call.costBilledBrl ?? '') !== price)
        add('an answer says what the usage of the upstream costs', `${price}`)
    } else if (!call.isStream && billedNanoBrl > 0n) {
      if (billedNanoBrl !== price || !record.hasAnswered)
        add('a plain call is charged what the upstream answered, or nothing', `${price}`)
    } else if (call.isStream && reasons.includes('lease_lapsed')) {
      // Charged is what was delivered: more may have been read, and checkpointed, than could be passed on.
      if (completionTokens < call.deltas)
        add('a stream whose node lost its lease is charged what was delivered', `${call.deltas}`)
    } else if (call.isStream && completionTokens < checkpoint)
      add('a broken stream is charged at least to its checkpoint', `checkpoint ${checkpoint}`)
  }
}

/** What holds of a call beyond that, where no fault was near it. */
function judgeUndisturbed(
  call: ClientCall,
  ledger: readonly LedgerCall[],
  recordOf: ReadonlyMap<string, UpstreamRecord>,
  add: (rule: string, detail: string) => void,
): void {
  if (call.ending === 'part' || call.ending === 'dropped')
    add('a call far from any fault is answered or refused', '')
  if (call.ending !== 'left') return
  for (const { holdId, billedNanoBrl } of ledger) {
    const record = recordOf.get(holdId)
    const isReadToTheEnd = !call.isStream || call.model.startsWith('runs-on')
    if (record && isReadToTheEnd && record.hasAnswered && billedNanoBrl !== priceOf(record))
      add('who leaves pays what is answered all the same', `${priceOf(record)}`)
  }
}

function isDisturbed(call: ClientCall, { disturbances }: Seen): boolean {
  return disturbances.some(
    ({ node, fromMs, toMs }) =>
      (node === undefined || node === call.node) &&
      call.startedAtMs < toMs + RECOVERY_MS &&
      call.endedAtMs > fromMs - (call.ending === 'left' ? LEFT_BEFORE_MS : BEFORE_MS),
  )
}

function judgeAccounts({ accounts, purses, calls }: Seen): Difference[] {
  const differences: Difference[] = []
  const wholeOf = Map.groupBy(
    calls.filter(({ ending }) => ending === 'whole'),
    ({ customerId }) => customerId,
  )
  for (const purse of purses) {
    const account = accounts.find(({ customerId }) => customerId === purse.customerId)
    const add = (rule: string, detail: string): void =>
      void differences.push({ rule, detail: `customer ${purse.customerId}: ${detail}` })
    if (!account) {
      add('a customer has an account', 'none')
      continue
    }
    const { creditedNanoBrl, debitedNanoBrl, chargedNanoBrl, heldNanoBrl } = account
    if (creditedNanoBrl !== purse.creditedNanoBrl || debitedNanoBrl !== purse.debitedNanoBrl)
      add('credits and debits are those that were made', `${creditedNanoBrl}, ${debitedNanoBrl}`)
    if (heldNanoBrl !== 0n) add('nothing stays held', `${heldNanoBrl}`)
    const paid = creditedNanoBrl - debitedNanoBrl
    // What a node that was silent delivered is charged late: the only way to spend more than is there.
    const overspent = chargedNanoBrl - paid
    const borrowed = account.correctedNanoBrl > 0n ? account.correctedNanoBrl : 0n
    if (overspent > borrowed) add('nobody overspends', `${overspent}, corrections ${borrowed}`)
    const received = (wholeOf.get(purse.customerId) ?? []).reduce(
      (sum, { costBilledBrl }) => sum + (parseBrl(costBilledBrl ?? '0') ?? 0n),
      0n,
    )
    if (received > paid + borrowed)
      add(
        'no more is answered than was paid',
        `answered ${received}, paid ${paid}, corrections ${borrowed}`,
      )
  }
  return differences
}

function describe(call: ClientCall, ledger: readonly LedgerCall[], detail: string): string {
  const { node, model, isStream, status, ending, error, startedAtMs, endedAtMs, deltas } = call
  const events = ledger.map(
    ({ holdId, billedNanoBrl, outcome, usageKinds, reasons }) =>
      `${holdId} ${outcome} ${billedNanoBrl} (${usageKinds.join(' ')}; ${reasons.join(' ')})`,
  )
  const at = new Date(startedAtMs).toISOString().slice(11, 23)
  return `${detail} | node ${node} ${model} ${isStream ? 'stream' : 'plain'} ${status ?? '-'} ${ending} ${error ?? ''}, ${deltas} deltas, at ${at} for ${endedAtMs - startedAtMs} ms | ${events.join('; ') || 'no event'}`
}
