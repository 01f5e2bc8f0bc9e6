import { writeBrCode } from '../../platform/lib/br-code.ts'
import type { SandboxPayment } from './sandbox-records.ts'
import { Refusal, slugOf } from './asaas-format.ts'

/** This host name never resolves (RFC 2606), so nobody can pay the code by mistake. */
const CODE_HOST = 'pix.sandbox.invalid'

export function writePixPayload(payment: SandboxPayment): string {
  return writeBrCode({
    target: { kind: 'url', url: `${CODE_HOST}/qr/v2/cobv/${slugOf(payment)}` },
    merchantName: 'SANDBOX CATRACA',
    city: 'SAO PAULO',
    amountCents: payment.amountCents,
    isOneTime: true,
  })
}

/** Returns the answer of `pixQrCode`. Throws a `Refusal` for payments that cannot be paid by Pix. */
export async function drawPixCode(payment: SandboxPayment): Promise<object> {
  if (payment.billingType !== 'PIX' && payment.billingType !== 'UNDEFINED') {
    throw new Refusal(400, 'invalid_action', 'Esta cobrança não pode ser paga com Pix.')
  }
  if (payment.isDeleted || payment.paidDate !== undefined) {
    throw new Refusal(400, 'invalid_action', 'Esta cobrança não está disponível para pagamento.')
  }
  const payload = writePixPayload(payment)
  const { toBuffer } = await import('qrcode')
  const png = await toBuffer(payload, { errorCorrectionLevel: 'M', margin: 2, width: 320 })
  return {
    success: true,
    encodedImage: png.toString('base64'),
    payload,
    expirationDate: `${addYear(payment.dueDate)} 23:59:59`,
    description: payment.description,
  }
}

function addYear(date: string): string {
  const year = Number(date.slice(0, 4)) + 1
  const rest = date.slice(4)
  return `${year}${rest === '-02-29' ? '-02-28' : rest}`
}
