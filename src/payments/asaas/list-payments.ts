import type { ListPaymentsOutcome, PaymentQuery } from '../processor.ts'
import type { AskAsaas } from './ask.ts'
import { readPayment } from './read-payment.ts'
import { badAnswer } from './read-refusal.ts'

/** Asaas gives no more on a page. */
const PAGE_PAYMENTS = 100
const DAY_FIELDS = { created: 'dateCreated', paid: 'paymentDate' } as const
/** One status can be asked for at a time. */
const RETURNED = [
  'REFUNDED',
  'CHARGEBACK_REQUESTED',
  'CHARGEBACK_DISPUTE',
  'AWAITING_CHARGEBACK_REVERSAL',
]

/** A page is `<which status>:<offset>`. */
export async function listPayments(
  ask: AskAsaas,
  query: PaymentQuery,
): Promise<ListPaymentsOutcome> {
  const [at = 0, offset = 0] = (query.page ?? '0:0').split(':').map(Number)
  const statuses = query.onlyReturned ? RETURNED : [undefined]
  const status = statuses[at]
  const field = DAY_FIELDS[query.by]
  const parameters = new URLSearchParams({
    [`${field}[ge]`]: query.fromDay,
    [`${field}[le]`]: query.toDay,
    ...(status === undefined ? {} : { status }),
    limit: String(PAGE_PAYMENTS),
    offset: String(offset),
  })
  const answer = await ask({
    method: 'GET',
    path: `/payments?${parameters.toString()}`,
    endpoint: 'GET /payments',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return badAnswer(false, `the list: status ${answer.status}`)
  const { data, hasMore } = answer.body
  // Without either, a list that was cut would pass for a whole one.
  if (!Array.isArray(data) || typeof hasMore !== 'boolean')
    return badAnswer(false, 'the list of payments has no data, or does not say whether it goes on')
  const payments = data.map(readPayment)
  if (!payments.every((payment) => payment !== undefined))
    return badAnswer(false, 'the list holds what is no payment')
  if (hasMore && payments.length === 0) return badAnswer(false, 'the list goes on with nothing')
  const isLastStatus = at + 1 >= statuses.length
  const nextPage = hasMore
    ? `${at}:${offset + payments.length}`
    : isLastStatus
      ? undefined
      : `${at + 1}:0`
  return { kind: 'payments', payments, nextPage }
}
