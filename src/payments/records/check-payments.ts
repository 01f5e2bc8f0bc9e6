/**
 * The processor's own records against ours, over some days. Lists of theirs are read fast and prove nothing:
 * whatever looks different in them, or is missing, is looked at once more by itself before it is told.
 */
import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import { isUuid } from '../../lib/ids.ts'
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
  /** `YYYY-MM-DD`, days in Brasília; both are in. */
  readonly fromDay: string
  readonly toDay: string
}

export interface CheckedPayments {
  /** Of theirs that were read. */
  readonly payments: number
  /** Of ours that were paid in these days. */
  readonly topUps: number
  readonly repaired: number
}

/** A card's owner has 120 days, and a Pix that was a fraud 80; the rest is for what is slow. */
const RETURNED_WITHIN_DAYS = 400
const BATCH = 500

/**
 * Every payment made or paid in the window, every one of longer ago that went back, every top-up of ours that
 * was paid in it, and `subjects`. Throws `ProcessorUnavailable`, and then nothing is known of the rest.
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
  /** The first payment that was seen to have paid a top-up. */
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
    // A second payment that nobody paid says nothing of a top-up that was paid by another.
    const isSpare = !payment.hasBeenPaid && payment.id !== topUp.processorPaymentId
    if (isSecond || (!isSpare && compareTopUp(topUp, topUp, [payment]).length > 0))
      suspects.add({ kind: 'top_up', id: topUp.id })
  }
}

/** Ours that were paid in the window, and of which no list told. Returns how many were paid in it. */
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

/** `YYYY-MM-DD`, so many days on. */
function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
