/** The published rule, call by call: the upstream's usage, the client's answer, the ledger's charge. */
import { parseBrl } from '../../src/platform/lib/money.ts'
import type { ClientCall } from './client-call.ts'
import type { LedgerAccount, LedgerCall } from './read-ledger.ts'
import type { Purse } from './purses.ts'
import { priceOf } from './upstream-process.ts'
import type { UpstreamRecord } from './upstream-record.ts'

export interface Discrepancy {
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
  /**
   * Refused by us, and charged: the charge was committed, and the database's answer was lost on the way to
   * the node.
   */
  readonly refusedAndCharged: number
  /** Calls far from any fault, for which more rules hold. */
  readonly undisturbed: number
  /** Those of them that went through the balancer while nodes were replaced. */
  readonly duringReplacement: number
}

export interface Seen {
  readonly calls: readonly ClientCall[]
  readonly records: readonly UpstreamRecord[]
  readonly ledger: readonly LedgerCall[]
  readonly accounts: readonly LedgerAccount[]
  readonly purses: readonly Purse[]
  /** Output tokens of the furthest observed checkpoint, by hold. */
  readonly checkpoints: ReadonlyMap<string, number>
  readonly revokedAtMs: ReadonlyMap<string, number>
  /** Of one node; undefined: of all. */
  readonly disturbances: readonly Disturbance[]
}

export interface Disturbance {
  readonly node: number | undefined
  readonly fromMs: number
  readonly toMs: number
  /** Nodes are replaced as an operator does it: clients of the balancer do not notice. */
  readonly isPlanned?: boolean
}

/**
 * Nothing is expected of a node for this long after a fault, or of a call that ended this shortly before one.
 */
export const RECOVERY_MS = 30_000
export const BEFORE_MS = 3_000
/** A call runs on after its client has left: the longest answer of the upstream takes 20 s. */
const LEFT_BEFORE_MS = 25_000

export const PAYMENTS_RULE = 'the balance has what was paid, less what was refunded'

export function compareCounts(seen: Seen): { counts: Counts; discrepancies: Discrepancy[] } {
  const recordOf = new Map(seen.records.map((record) => [record.holdId, record]))
  const ledgerOf = Map.groupBy(seen.ledger, ({ requestId }) => requestId)
  const discrepancies: Discrepancy[] = []
  let refusedAndCharged = 0
  let undisturbed = 0
  let duringReplacement = 0
  for (const call of seen.calls) {
    const ledger = ledgerOf.get(call.requestId) ?? []
    const add = (rule: string, detail: string): void =>
      void discrepancies.push({
        rule,
        requestId: call.requestId,
        detail: describe(call, ledger, detail),
      })
    judgeCall(call, ledger, recordOf, seen, add)
    if (!isDisturbed(call, seen)) {
      undisturbed += 1
      if (call.isBalanced && seen.disturbances.some((each) => overlaps(call, each)))
        duringReplacement += 1
      judgeUndisturbed(call, ledger, recordOf, seen, add)
      if (call.isBalanced) judgeBalanced(call, ledger, recordOf, seen, add)
    }
    if (call.ending === 'refused' && ledger.some(({ billedNanoBrl }) => billedNanoBrl > 0n))
      refusedAndCharged += 1
  }
  for (const call of seen.ledger) {
    if (call.outcomes !== 1)
      discrepancies.push({
        rule: 'a hold has one first outcome',
        requestId: call.requestId,
        detail: call.holdId,
      })
    if (call.corrections > 2)
      discrepancies.push({
        rule: 'a hold is corrected once',
        requestId: call.requestId,
        detail: call.holdId,
      })
  }
  discrepancies.push(...judgeAccounts(seen))
  const ending = Map.groupBy(seen.calls, (call) => call.ending)
  const size = (name: ClientCall['ending']): number => ending.get(name)?.length ?? 0
  return {
    discrepancies,
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
      duringReplacement,
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
    const shown = call.costBilledBrl === undefined ? undefined : parseBrl(call.costBilledBrl)
    if (billed === 0n) add('a complete answer is charged', `shown ${shown}`)
    else if (billed !== shown)
      add('a complete answer is charged the cost that it shows', `shown ${shown}`)
    const revokedAtMs = seen.revokedAtMs.get(call.keyId)
    if (revokedAtMs !== undefined && call.startedAtMs > revokedAtMs)
      add('a revoked key gets no answer', `revoked ${call.startedAtMs - revokedAtMs} ms before`)
  }
  for (const { holdId, billedNanoBrl, completionTokens, reasons } of ledger) {
    const record = recordOf.get(holdId)
    const checkpoint = seen.checkpoints.get(holdId) ?? 0
    if (!record) {
      if (billedNanoBrl !== 0n) add('a hold without a call of the upstream is not charged', holdId)
      continue
    }
    const price = priceOf(record)
    if (record.isRefused && billedNanoBrl !== 0n)
      add('a call that the upstream refused is not charged', holdId)
    if (billedNanoBrl < 0n) add('no call has a negative charge', holdId)
    if (billedNanoBrl > price) add("a call is charged at most the upstream's usage", `${price}`)
    if (call.ending === 'whole') {
      if (parseBrl(call.costBilledBrl ?? '') !== price)
        add("an answer shows the cost of the upstream's usage", `${price}`)
    } else if (!call.isStream && billedNanoBrl > 0n) {
      if (billedNanoBrl !== price || !record.hasAnswered)
        add("a plain call is charged the upstream's usage, or nothing", `${price}`)
    } else if (call.isStream && reasons.includes('lease_lapsed')) {
      // The charge is for the delivered part: the node may have read, and checkpointed, more than it could
      // pass on.
      if (completionTokens < call.deltas)
        add('a stream whose node lost its lease is charged its delivered part', `${call.deltas}`)
    } else if (call.isStream && completionTokens < checkpoint)
      add('a broken stream is charged at least to its checkpoint', `checkpoint ${checkpoint}`)
  }
}

/** The further rules for a call that no fault was near. */
function judgeUndisturbed(
  call: ClientCall,
  ledger: readonly LedgerCall[],
  recordOf: ReadonlyMap<string, UpstreamRecord>,
  seen: Seen,
  add: (rule: string, detail: string) => void,
): void {
  const isBroken = call.ending === 'part' || call.ending === 'dropped'
  if (!call.isBalanced && isBroken && !isRevoked(call, seen)) add(ANSWERED_RULE, '')
  if (call.ending !== 'left') return
  for (const { holdId, billedNanoBrl } of ledger) {
    const record = recordOf.get(holdId)
    const isReadToTheEnd = !call.isStream || call.model.startsWith('runs-on')
    if (record && isReadToTheEnd && record.hasAnswered && billedNanoBrl !== priceOf(record))
      add('a client that leaves pays for the answer', `${priceOf(record)}`)
  }
}

const ANSWERED_RULE = 'a call far from any fault is answered or refused'
export const BALANCED_RULE =
  'a call through the balancer is answered, also while nodes are replaced'

/** Rules of service, not of money: waiting does not make them hold, and the audit does not check them. */
export function isOfService({ rule }: Discrepancy): boolean {
  return rule === ANSWERED_RULE || rule === BALANCED_RULE
}

/** The running calls of a revoked key are cut off, and its next ones are refused. */
function isRevoked({ keyId, endedAtMs }: ClientCall, { revokedAtMs }: Seen): boolean {
  return (revokedAtMs.get(keyId) ?? Infinity) < endedAtMs + BEFORE_MS
}

/** Refused, cut and dropped calls alike; but a key may be revoked, and the upstream may fail. */
function judgeBalanced(
  call: ClientCall,
  ledger: readonly LedgerCall[],
  recordOf: ReadonlyMap<string, UpstreamRecord>,
  seen: Seen,
  add: (rule: string, detail: string) => void,
): void {
  if (call.ending === 'whole' || call.ending === 'left') return
  if ((call.status === 401 || call.ending !== 'refused') && isRevoked(call, seen)) return
  if (call.ending !== 'dropped' && ledger.some(({ holdId }) => recordOf.get(holdId)?.isRefused))
    return
  add(BALANCED_RULE, '')
}

/** Through the balancer a call may reach any node, whose replacement is no fault. */
function isDisturbed(call: ClientCall, { disturbances }: Seen): boolean {
  const beforeMs = call.ending === 'left' ? LEFT_BEFORE_MS : BEFORE_MS
  return disturbances.some(
    (each) =>
      (call.isBalanced ? !each.isPlanned : each.node === undefined || each.node === call.node) &&
      overlaps(call, each, { beforeMs, afterMs: RECOVERY_MS }),
  )
}

function overlaps(
  { startedAtMs, endedAtMs }: ClientCall,
  { fromMs, toMs }: Disturbance,
  { beforeMs, afterMs } = { beforeMs: 0, afterMs: 0 },
): boolean {
  return startedAtMs < toMs + afterMs && endedAtMs > fromMs - beforeMs
}

function judgeAccounts({ accounts, purses, calls }: Seen): Discrepancy[] {
  const discrepancies: Discrepancy[] = []
  const wholeOf = Map.groupBy(
    calls.filter(({ ending }) => ending === 'whole'),
    ({ customerId }) => customerId,
  )
  for (const purse of purses) {
    const account = accounts.find(({ customerId }) => customerId === purse.customerId)
    const add = (rule: string, detail: string): void =>
      void discrepancies.push({ rule, detail: `customer ${purse.customerId}: ${detail}` })
    if (!account) {
      add('a customer has an account', 'none')
      continue
    }
    const { creditedNanoBrl, debitedNanoBrl, chargedNanoBrl, heldNanoBrl } = account
    if (purse.payments) {
      // A refund that fails is credited again.
      const paid = purse.creditedNanoBrl - purse.debitedNanoBrl
      if (creditedNanoBrl - debitedNanoBrl !== paid)
        add(PAYMENTS_RULE, `${creditedNanoBrl} less ${debitedNanoBrl}, at the processor ${paid}`)
    } else if (creditedNanoBrl !== purse.creditedNanoBrl || debitedNanoBrl !== purse.debitedNanoBrl)
      add('every credit and debit was made by this run', `${creditedNanoBrl}, ${debitedNanoBrl}`)
    if (heldNanoBrl !== 0n) add('no hold stays open', `${heldNanoBrl}`)
    const paid = creditedNanoBrl - debitedNanoBrl
    // Answers that a silent node delivered are charged late, which is the only way to overspend a balance.
    const overspent = chargedNanoBrl - paid
    const borrowed = account.correctedNanoBrl > 0n ? account.correctedNanoBrl : 0n
    if (overspent > borrowed) add('nobody overspends', `${overspent}, corrections ${borrowed}`)
    const received = (wholeOf.get(purse.customerId) ?? []).reduce(
      (sum, { costBilledBrl }) => sum + (parseBrl(costBilledBrl ?? '0') ?? 0n),
      0n,
    )
    if (received > paid + borrowed)
      add(
        'no customer receives more than was paid',
        `answered ${received}, paid ${paid}, corrections ${borrowed}`,
      )
  }
  return discrepancies
}

function describe(call: ClientCall, ledger: readonly LedgerCall[], detail: string): string {
  const { model, isStream, status, ending, error, startedAtMs, endedAtMs, deltas } = call
  const node = `${call.isBalanced ? 'balancer, ' : ''}node ${call.node}`
  const events = ledger.map(
    ({ holdId, billedNanoBrl, outcome, usageKinds, reasons }) =>
      `${holdId} ${outcome} ${billedNanoBrl} (${usageKinds.join(' ')}; ${reasons.join(' ')})`,
  )
  const at = new Date(startedAtMs).toISOString().slice(11, 23)
  return `${detail} | ${node} ${model} ${isStream ? 'stream' : 'plain'} ${status ?? '-'} ${ending} ${error ?? ''}, ${deltas} deltas, at ${at} for ${endedAtMs - startedAtMs} ms | ${events.join('; ') || 'no event'}`
}
