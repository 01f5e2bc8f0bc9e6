import { readBrCode } from '../../../platform/lib/br-code.ts'
import { jsonCents } from '../../../platform/lib/exact-json.ts'
import type {
  BoletoOutcome,
  CancelPaymentOutcome,
  PixCodeOutcome,
  RefundOutcome,
  RefundRequest,
} from '../processor.ts'
import type { CallAsaas } from './call-asaas.ts'
import { findPayment } from './payments.ts'
import { readPayment, textOf } from './read-payment.ts'
import { badAnswer, firstError, refusedOf } from './read-refusal.ts'

export async function pixCode(call: CallAsaas, paymentId: string): Promise<PixCodeOutcome> {
  const answer = await call({
    method: 'GET',
    path: `/payments/${encodeURIComponent(paymentId)}/pixQrCode`,
    endpoint: 'GET /payments/{id}/pixQrCode',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') {
    return answer.status === 404 ? { kind: 'payment_not_found' } : refusedOf(answer.errors)
  }
  const { body } = answer
  const payload = textOf(body.payload)
  const qrCodeBase64 = textOf(body.encodedImage)
  const expiresAt = readBrasiliaTime(body.expirationDate)
  if (!payload || !qrCodeBase64 || !expiresAt) return badAnswer(false, 'the Pix code is incomplete')
  // Do not show a code that a bank would refuse or that was truncated.
  if (!readBrCode(payload)) return badAnswer(false, 'the Pix code is invalid')
  return { kind: 'pix_code', payload, qrCodeBase64, expiresAt }
}

export async function boleto(call: CallAsaas, paymentId: string): Promise<BoletoOutcome> {
  const found = await findPayment(call, paymentId)
  if (found.kind !== 'payment') return found
  const answer = await call({
    method: 'GET',
    path: `/payments/${encodeURIComponent(paymentId)}/identificationField`,
    endpoint: 'GET /payments/{id}/identificationField',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') {
    return answer.status === 404 ? { kind: 'payment_not_found' } : refusedOf(answer.errors)
  }
  const line = textOf(answer.body.identificationField)
  const url = found.payment.boletoUrl
  if (!line || !/^\d{47,48}$/.test(line) || !url)
    return badAnswer(false, 'the boleto is incomplete')
  return { kind: 'boleto', url, line, barCode: textOf(answer.body.barCode) }
}

export async function cancelPayment(call: CallAsaas, id: string): Promise<CancelPaymentOutcome> {
  const answer = await call({
    method: 'DELETE',
    path: `/payments/${encodeURIComponent(id)}`,
    endpoint: 'DELETE /payments/{id}',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'ok') {
    return answer.body.deleted === true
      ? { kind: 'canceled' }
      : badAnswer(true, 'the answer does not say that it was deleted')
  }
  if (answer.status === 404) return { kind: 'payment_not_found' }
  // An earlier request, whose answer was lost, may have deleted it.
  const found = await findPayment(call, id)
  if (found.kind !== 'payment') return found
  if (found.payment.status === 'deleted') return { kind: 'canceled' }
  return { kind: 'not_cancelable', detail: firstError(answer.errors).description }
}

export async function refund(
  call: CallAsaas,
  { paymentId, amountCents, description }: RefundRequest,
): Promise<RefundOutcome> {
  const answer = await call({
    method: 'POST',
    path: `/payments/${encodeURIComponent(paymentId)}/refund`,
    endpoint: 'POST /payments/{id}/refund',
    reachesIssuer: true,
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
    : badAnswer(true, 'the answer to a refund is another payment')
}

/** Reads `2027-11-21 23:59:59` in Brasília's time, which has been UTC-3 all year since 2019. */
function readBrasiliaTime(value: unknown): Date | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(textOf(value) ?? '')
  const date = match ? new Date(`${match[1]}T${match[2]}-03:00`) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}

/** Asaas publishes no error code for it, so its text decides. */
function isForLackOfBalance(description: string): boolean {
  return (
    /saldo/i.test(description) && /insuficiente|não (possui|há|tem)|disponível/i.test(description)
  )
}
