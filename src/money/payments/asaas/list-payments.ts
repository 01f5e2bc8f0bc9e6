import type { ListPaymentsOutcome, PaymentQuery } from '../processor.ts'
import type { CallAsaas } from './call-asaas.ts'
import { readPayment } from './read-payment.ts'
import { badAnswer } from './read-refusal.ts'

/** Asaas returns at most this many per page. */
const PAGE_PAYMENTS = 100
const DAY_FIELDS = { created: 'dateCreated', paid: 'paymentDate' } as const
/** A request can filter by one status only, so each status has its own pages. */
const RETURNED = [
  'REFUNDED',
  'CHARGEBACK_REQUESTED',
  'CHARGEBACK_DISPUTE',
  'AWAITING_CHARGEBACK_REVERSAL',
]

/** A page token is `<index of the status>:<offset>`. */
export async function listPayments(
  call: CallAsaas,
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
  const answer = await call({
    method: 'GET',
    path: `/payments?${parameters.toString()}`,
    endpoint: 'GET /payments',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return badAnswer(false, `the list: status ${answer.status}`)
  const { data, hasMore } = answer.body
  // Without either, a truncated list would look complete.
  if (!Array.isArray(data) || typeof hasMore !== 'boolean')
    return badAnswer(false, 'the list of payments has no data or no hasMore')
  const payments = data.map(readPayment)
  if (!payments.every((payment) => payment !== undefined))
    return badAnswer(false, 'the list contains an entry that is not a payment')
  if (hasMore && payments.length === 0)
    return badAnswer(false, 'an empty page claims that more follow')
  const isLastStatus = at + 1 >= statuses.length
  const nextPage = hasMore
    ? `${at}:${offset + payments.length}`
    : isLastStatus
      ? undefined
      : `${at + 1}:0`
  return { kind: 'payments', payments, nextPage }
}
