/**
 * Compares the processor's records with ours over some days. The processor's lists are fast to read but prove
 * nothing: every entry that differs or is missing is read again separately before it is reported.
 */
import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import { addDays } from '../../../platform/lib/days.ts'
import { isUuid } from '../../../platform/lib/ids.ts'
import type { Payment, PaymentQuery, Processor } from '../processor.ts'
import {
  checkSubject,
  isUnmatched,
  listBooked,
  ProcessorUnavailable,
  type CheckDeps,
  type CheckedSubject,
  type Subject,
} from './check-subject.ts'
import { compareTopUp } from './compare-top-up.ts'

export interface CheckWindow {
  /** `YYYY-MM-DD`, days in Brasília, both inclusive. */
  readonly fromDay: string
  readonly toDay: string
}

export interface CheckedPayments {
  /** Payments of the processor that were read. */
  readonly payments: number
  /** Our top-ups that were paid in the window. */
  readonly topUps: number
  /** Top-ups that the check brought up to date. */
  readonly repaired: number
}

/** A cardholder may dispute for 120 days, and a fraudulent Pix can be returned for 80; the rest allows for delays. */
const RETURNED_WITHIN_DAYS = 400
const BATCH = 500

/**
 * Checks all payments that were created or paid in the window, older payments that were returned, our top-ups that were
 * paid in the window, and `subjects`. Throws `ProcessorUnavailable`; the rest is then unchecked.
 */
export async function checkPayments(
  deps: CheckDeps,
  window: CheckWindow,
  subjects: readonly Subject[],
  onChecked: (checked: CheckedSubject) => Promise<void>,
): Promise<CheckedPayments> {
  const { db, processor } = deps
  const suspects = new Suspects(subjects)
  const seen: Seen = { payments: new Set(), paidBy: new Map() }
  const longAgo = addDays(window.toDay, -RETURNED_WITHIN_DAYS)
  const queries: PaymentQuery[] = [
    { by: 'created', ...window },
    { by: 'paid', ...window },
    { by: 'created', fromDay: longAgo, toDay: window.toDay, onlyReturned: true },
  ]
  for (const query of queries)
    for await (const page of readPages(processor, query)) {
      const fresh = page.filter(({ id }) => !seen.payments.has(id))
      for (const { id } of fresh) seen.payments.add(id)
      await suspectPage(db, fresh, seen, suspects)
    }
  const topUps = await suspectUnseen(db, processor, window, seen, suspects)
  let repaired = 0
  for (const subject of suspects.list()) {
    const checked = await checkSubject(deps, subject)
    if (checked.wasRepaired) repaired += 1
    await onChecked(checked)
  }
  return { payments: seen.payments.size, topUps, repaired }
}

interface Seen {
  readonly payments: Set<string>
  /** The payment that was last seen to have paid a top-up, by the top-up's id. */
  readonly paidBy: Map<string, string>
}

class Suspects {
  readonly #subjects = new Map<string, Subject>()
  constructor(subjects: readonly Subject[]) {
    for (const subject of subjects) this.add(subject)
  }
  add(subject: Subject): void {
    this.#subjects.set(`${subject.kind} ${subject.id}`, subject)
  }
  list(): readonly Subject[] {
    return [...this.#subjects.values()]
  }
}

async function* readPages(
  processor: Processor,
  query: PaymentQuery,
): AsyncGenerator<readonly Payment[]> {
  for (let page: string | undefined; ;) {
    const outcome = await processor.listPayments({ ...query, page })
    if (outcome.kind === 'unavailable') throw new ProcessorUnavailable(outcome)
    yield outcome.payments
    page = outcome.nextPage
    if (page === undefined) return
  }
}

async function suspectPage(
  db: Database,
  payments: readonly Payment[],
  seen: Seen,
  suspects: Suspects,
): Promise<void> {
  const ids = payments.flatMap(({ ourId }) => (ourId !== undefined && isUuid(ourId) ? [ourId] : []))
  const booked = new Map((await listBooked(db, ids)).map((topUp) => [topUp.id, topUp]))
  for (const payment of payments) {
    const topUp = payment.ourId === undefined ? undefined : booked.get(payment.ourId.toLowerCase())
    if (!topUp) {
      if (isUnmatched(payment)) suspects.add({ kind: 'payment', id: payment.id })
      continue
    }
    const isSecond = payment.hasBeenPaid && seen.paidBy.has(topUp.id)
    if (payment.hasBeenPaid) seen.paidBy.set(topUp.id, payment.id)
    // An unpaid second payment says nothing about a top-up that another payment has paid.
    const isSpare = !payment.hasBeenPaid && payment.id !== topUp.processorPaymentId
    if (isSecond || (!isSpare && compareTopUp(topUp, topUp, [payment]).length > 0))
      suspects.add({ kind: 'top_up', id: topUp.id })
  }
}

/** Suspects our top-ups that were paid in the window but are in no list. Returns the number of those paid in it. */
async function suspectUnseen(
  db: Database,
  processor: Processor,
  { fromDay, toDay }: CheckWindow,
  seen: Seen,
  suspects: Suspects,
): Promise<number> {
  let count = 0
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await sql<{ id: string }>`
      select id from top_ups
      where processor = ${processor.id} and id > ${after}
        and paid_at >= ${fromDay}::date::timestamp at time zone 'America/Sao_Paulo'
        and paid_at < (${toDay}::date + 1)::timestamp at time zone 'America/Sao_Paulo'
      order by id limit ${BATCH}`.execute(db)
    count += rows.length
    for (const { id } of rows) if (!seen.paidBy.has(id)) suspects.add({ kind: 'top_up', id })
    const last = rows.at(-1)
    if (rows.length < BATCH || !last) return count
    after = last.id
  }
}
