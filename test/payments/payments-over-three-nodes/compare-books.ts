/** The invariants at the end: our books agree with the payments and refunds of the processor. */
import { sql } from 'kysely'
import type { Database } from '../../../src/platform/db/open.ts'
import { findAccount } from '../../../src/money/ledger/entries.ts'
import type { NanoBrl } from '../../../src/platform/lib/money.ts'
import { refundDescription } from '../../../src/money/payments/refunds/settle-parts.ts'
import { NANO_BRL_PER_CENTAVO } from '../../../src/money/payments/top-ups.ts'
import type { PlayedProcessor } from './played-processor.ts'

/** Of all requests with one key. */
export interface AnswersOfKey {
  /** The ids under which they asked for a payment. */
  readonly asked: Set<string>
  readonly ids: Set<string>
  readonly refused: string[]
}

export interface Books {
  readonly db: Database
  readonly customerId: string
  readonly processor: PlayedProcessor
  readonly spentNanoBrl: NanoBrl
  /** A request left late: the processor may have two refunds for one of ours. */
  readonly hasResidues: boolean
  readonly answers: ReadonlyMap<string, AnswersOfKey>
}

export async function compareBooks(books: Books): Promise<string[]> {
  return [
    ...(await compareBalance(books)),
    ...(await compareTopUps(books)),
    ...(await compareRefunds(books)),
    ...compareKeys(books),
    ...(await findUnneededCharges(books)),
  ]
}

async function compareBalance({ db, customerId, processor, spentNanoBrl }: Books) {
  const account = await findAccount(db, customerId)
  const kept = [...processor.payments.values()]
    .filter((one) => !processor.isByHand(one))
    .reduce((sum, one) => sum + processor.keptCents(one), 0n)
  const balance = (account?.balanceNanoBrl ?? 0n) + spentNanoBrl
  if (balance === kept * NANO_BRL_PER_CENTAVO) return []
  return [`the books have ${balance / NANO_BRL_PER_CENTAVO}, the processor ${kept}`]
}

async function compareTopUps({ db, customerId, processor }: Books): Promise<string[]> {
  const { rows } = await sql<{ id: string; status: string; is_paid: boolean; method: string }>`
    select id, status, paid_at is not null as is_paid, method from top_ups where customer_id = ${customerId}`.execute(
    db,
  )
  return rows.flatMap(({ id, status, is_paid: isPaid, method }) => {
    const one = processor.payments.get(`pay_${id}`)
    const mayWait = method === 'pix' && one?.status === 'pending'
    const isRight = isPaid === (one?.hasBeenPaid ?? false) && (status !== 'pending' || mayWait)
    return isRight ? [] : [`top-up ${id} is ${status}, its payment ${one?.status ?? 'nowhere'}`]
  })
}

async function compareRefunds({ db, customerId, processor, hasResidues }: Books) {
  const { rows } = await sql<{ refund_id: string; top_up_id: string; status: string }>`
    select p.refund_id, p.top_up_id, p.status from refund_parts p join refunds r on r.id = p.refund_id
    where r.customer_id = ${customerId}`.execute(db)
  return rows.flatMap(({ refund_id: refundId, top_up_id: topUpId, status }) => {
    const there = (processor.payments.get(`pay_${topUpId}`)?.refunds ?? []).filter(
      ({ description }) => description === refundDescription(refundId),
    )
    const done = there.filter((refund) => refund.status === 'done').length
    const wanted = { done: 1, failed: 0, taken: done }[status]
    if (done === wanted || (hasResidues && wanted !== undefined && done > wanted)) return []
    return [
      `a part of ${refundId} is ${status}, at the processor ${there.map((one) => one.status).join() || 'nothing'}`,
    ]
  })
}

function compareKeys({ answers, processor }: Books): string[] {
  return [...answers].flatMap(([key, { asked, ids, refused }]) => {
    const made = [...asked].filter((id) => processor.payments.has(`pay_${id}`))
    return [
      ...(ids.size > 1 ? [`${key}: several answers`] : []),
      ...(ids.size > 0 && refused.length > 0
        ? [`${key}: created, and refused: ${refused.join()}`]
        : []),
      ...(made.length > 1 ? [`${key}: several payments`] : []),
    ]
  })
}

/** The faults that a trigger noted when automatic top-ups were stored. */
async function findUnneededCharges({ db, customerId }: Books): Promise<string[]> {
  const { rows } = await sql<{ id: string; why: string }>`
    select w.top_up_id as id, w.why from watched_charges w join top_ups t on t.id = w.top_up_id
    where t.customer_id = ${customerId} and w.why <> ''`.execute(db)
  return rows.map(({ id, why }) => `automatic top-up ${id}: ${why}`)
}
