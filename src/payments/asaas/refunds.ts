import { jsonCents } from '../../lib/exact-json.ts'
import type { RefundOutcome, RefundRequest } from '../processor.ts'
import type { AskAsaas } from './ask.ts'
import { readPayment } from './read-payment.ts'
import { badAnswer, firstError } from './read-refusal.ts'

export async function refund(
  ask: AskAsaas,
  { paymentId, amountCents, description }: RefundRequest,
): Promise<RefundOutcome> {
  const answer = await ask({
    method: 'POST',
    path: `/payments/${encodeURIComponent(paymentId)}/refund`,
    endpoint: 'POST /payments/{id}/refund',
    asksIssuer: true,
    body: { value: jsonCents(amountCents), description },
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') {
    if (answer.status === 404) return { kind: 'payment_not_found' }
    const detail = firstError(answer.errors).description
    return isForLackOfBalance(detail)
      ? { kind: 'insufficient_processor_balance', detail }
      : { kind: 'not_refundable', detail }
  }
  const payment = readPayment(answer.body)
  return payment?.id === paymentId
    ? { kind: 'refund_accepted', payment }
    : badAnswer(true, 'the answer to a refund is not its payment')
}

/** No code of its own is published for it. */
function isForLackOfBalance(description: string): boolean {
  return (
    /saldo/i.test(description) && /insuficiente|não (possui|há|tem)|disponível/i.test(description)
  )
}
