import type { CardToTokenize, TokenizeCardOutcome } from '../processor.ts'
import type { CallAsaas } from './call-asaas.ts'
import { isDeclined } from './payments.ts'
import { textOf } from './read-payment.ts'
import { badAnswer, firstError, invalidCustomer, payerFieldOf, refusedOf } from './read-refusal.ts'

/** Sends the number and the CCV to Asaas and nowhere else: no outcome contains either. */
export async function tokenizeCard(
  call: CallAsaas,
  { processorCustomerId, card, holder, remoteIp }: CardToTokenize,
): Promise<TokenizeCardOutcome> {
  const number = card.number.replaceAll(/\D/g, '')
  const answer = await call({
    method: 'POST',
    path: '/creditCard/tokenizeCreditCard',
    endpoint: 'POST /creditCard/tokenizeCreditCard',
    reachesIssuer: true,
    secrets: [card.number, number, card.ccv, card.holderName],
    body: {
      customer: processorCustomerId,
      creditCard: { ...card, number },
      creditCardHolderInfo: {
        name: holder.name,
        email: holder.email,
        cpfCnpj: holder.taxId,
        postalCode: holder.postalCode.replaceAll(/\D/g, ''),
        addressNumber: holder.addressNumber,
        addressComplement: holder.addressComplement,
        phone: holder.phone.replaceAll(/\D/g, ''),
      },
      remoteIp,
    },
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return readRefusal(answer.errors)
  const token = textOf(answer.body.creditCardToken)
  if (!token) return badAnswer(true, 'the answer holds no token')
  return {
    kind: 'card_token',
    token,
    brand: textOf(answer.body.creditCardBrand),
    lastFour: number.slice(-4),
  }
}

function readRefusal(
  errors: Parameters<typeof refusedOf>[0],
): Exclude<TokenizeCardOutcome, { kind: 'card_token' }> {
  const { code, description } = firstError(errors)
  if (isDeclined(code, description) || /^invalid_creditCard(Number)?$/.test(code)) {
    return { kind: 'declined', detail: description }
  }
  const field = payerFieldOf(errors)
  return field ? invalidCustomer(field, errors) : refusedOf(errors)
}
