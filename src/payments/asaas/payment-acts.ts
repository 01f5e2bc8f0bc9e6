import { readBrCode } from '../../lib/br-code.ts'
import { jsonCents } from '../../lib/exact-json.ts'
import type {
  BoletoOutcome,
  CancelPaymentOutcome,
  PixCodeOutcome,
  RefundOutcome,
  RefundRequest,
} from '../processor.ts'
import type { AskAsaas } from './ask.ts'
import { findPayment } from './payments.ts'
import { readPayment, textOf } from './read-payment.ts'
import { badAnswer, firstError, refusedOf } from './read-refusal.ts'

export async function pixCode(ask: AskAsaas, paymentId: string): Promise<PixCodeOutcome> {
  const answer = await ask({
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
  if (!payload || !qrCodeBase64 || !expiresAt) return badAnswer(false, 'no whole Pix code')
  // A code that a bank would refuse, or one cut on its way, is not to be shown to anybody.
  if (!readBrCode(payload)) return badAnswer(false, 'the Pix code does not add up')
  return { kind: 'pix_code', payload, qrCodeBase64, expiresAt }
}

export async function boleto(ask: AskAsaas, paymentId: string): Promise<BoletoOutcome> {
  const found = await findPayment(ask, paymentId)
  if (found.kind !== 'payment') return found
  const answer = await ask({
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
  if (!line || !/^\d{47,48}$/.test(line) || !url) return badAnswer(false, 'no whole boleto')
  return { kind: 'boleto', url, line, barCode: textOf(answer.body.barCode) }
}

export async function cancelPayment(ask: AskAsaas, id: string): Promise<CancelPaymentOutcome> {
  const answer = await ask({
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
  // It may have been deleted by a call whose answer was lost.
  const found = await findPayment(ask, id)
  if (found.kind !== 'payment') return found
  if (found.payment.status === 'deleted') return { kind: 'canceled' }
  return { kind: 'not_cancelable', detail: firstError(answer.errors).description }
}

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

/** `2027-11-21 23:59:59`, Brasília's time, which has been three hours behind UTC all year since 2019. */
function readBrasiliaTime(value: unknown): Date | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(textOf(value) ?? '')
  const date = match ? new Date(`${match[1]}T${match[2]}-03:00`) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}

/** Asaas publishes no code for it. */
function isForLackOfBalance(description: string): boolean {
  return (
    /saldo/i.test(description) && /insuficiente|não (possui|há|tem)|disponível/i.test(description)
  )
}
