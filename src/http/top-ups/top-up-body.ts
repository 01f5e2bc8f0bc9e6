/** The schemas of a top-up: customers' input and the answer. */
import Type from 'typebox'
import { jsonBrl, NANO_PER_BRL, parseBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { isSuspended } from '../../customers/suspend-customer.ts'
import { findPayer } from '../../money/payments/payers.ts'
import type { PayerDetails } from '../../money/payments/processor.ts'
import { NANO_BRL_PER_CENTAVO, type TopUp } from '../../money/payments/top-ups.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, dateTime, nullable, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export const AMOUNT_BRL_MAX = 5_000

export const topUp = answer({
  id: uuid,
  amount_brl: brl,
  method: Type.Enum(['pix', 'boleto', 'card']),
  status: Type.Enum([
    'pending',
    'paid',
    'expired',
    'canceled',
    'failed',
    'refund_pending',
    'partially_refunded',
    'refunded',
    'chargeback',
  ]),
  pix: nullable(
    answer({
      payload: Type.String({ description: 'Copia e cola.' }),
      qr_code_base64: Type.String({ description: 'A imagem do QR Code, um PNG.' }),
      expires_at: nullable(dateTime),
    }),
  ),
  boleto: nullable(answer({ url: Type.String(), line: Type.String() })),
  card: nullable(answer({ brand: nullable(Type.String()), last_four: Type.String() })),
  payment_method_id: nullable(uuid),
  is_automatic: Type.Boolean({ description: 'Feita pela recarga automática.' }),
  page_url: nullable(Type.String({ description: 'A página do processador, onde também se paga.' })),
  returned_brl: Type.Number({ description: 'BRL que voltaram a quem pagou.' }),
  created_at: dateTime,
  paid_at: nullable(dateTime),
})

export function topUpBody(found: TopUp): AnswerOf<typeof topUp> {
  return {
    id: found.id,
    amount_brl: jsonBrl(found.amountNanoBrl),
    method: found.method,
    status: found.status,
    pix: found.pix && {
      payload: found.pix.payload,
      qr_code_base64: found.pix.qrCodeBase64,
      expires_at: found.expiresAt?.toISOString() ?? null,
    },
    boleto: found.boleto,
    card: found.card && { brand: found.card.brand, last_four: found.card.lastFour },
    payment_method_id: found.paymentMethodId,
    is_automatic: found.isAutomatic,
    page_url: found.pageUrl,
    returned_brl: jsonBrl(found.returnedNanoBrl),
    created_at: found.createdAt.toISOString(),
    paid_at: found.paidAt?.toISOString() ?? null,
  }
}

/** Returns the fault of an amount in the wording of the specification. */
export function amountFault(minimumBrl: number): string {
  return `amount must be number between ${minimumBrl} and ${AMOUNT_BRL_MAX}`
}

export function readAmount(given: unknown, minimumBrl: number): NanoBrl {
  const amount = readCentavos(given)
  if (
    amount === undefined ||
    amount < BigInt(minimumBrl) * NANO_PER_BRL ||
    amount > BigInt(AMOUNT_BRL_MAX) * NANO_PER_BRL
  )
    throw new RestRefusal(400, amountFault(minimumBrl))
  return amount
}

/** An amount of whole centavos in BRL, from the number's shortest text: no floating-point arithmetic. */
export function readCentavos(given: unknown): NanoBrl | undefined {
  const amount = typeof given === 'number' ? parseBrl(String(given)) : undefined
  return amount !== undefined && amount % NANO_BRL_PER_CENTAVO === 0n ? amount : undefined
}

/** Throws if the account is suspended. It only answers early: `createTopUp` decides with the customer locked. */
export async function refuseSuspended(
  { db }: Pick<HttpParts, 'db'>,
  customerId: string,
): Promise<void> {
  if (await isSuspended(db, customerId)) throw accountSuspended()
}

export function accountSuspended(): RestRefusal {
  return new RestRefusal(
    403,
    'account_suspended',
    'a conta está suspensa e não pode pôr saldo nem cadastrar cartões: fale com o suporte',
  )
}

export async function payerOf(
  { db }: Pick<HttpParts, 'db'>,
  customerId: string,
): Promise<PayerDetails> {
  const found = await findPayer(db, customerId)
  if (found.kind !== 'payer') throw new RestRefusal(400, found.kind)
  return found.payer
}
