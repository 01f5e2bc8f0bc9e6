import { readCents } from '../../platform/lib/exact-json.ts'
import { brasiliaDate, isDate } from './brasilia-time.ts'
import type { SandboxState } from './open-state.ts'
import type { NewPayment } from './payment-life.ts'
import type { BillingType, SandboxCard } from './sandbox-records.ts'
import { declined } from './test-cards.ts'
import { Refusal } from './asaas-format.ts'

type Body = { readonly [name: string]: unknown }

const BILLING_TYPES: readonly unknown[] = ['PIX', 'CREDIT_CARD', 'BOLETO', 'UNDEFINED']
const DESCRIPTION_CHARACTERS_MAX = 500

/** Throws a `Refusal` for the first fault, as Asaas does. */
export function readNewPayment(state: SandboxState, body: Body): NewPayment {
  const customer = state.customers.get(String(body.customer))
  if (!customer || customer.isDeleted) {
    throw new Refusal(400, 'invalid_customer', 'Customer inválido ou não informado.')
  }
  if (!BILLING_TYPES.includes(body.billingType)) {
    throw new Refusal(400, 'invalid_billingType', 'O tipo de cobrança é inválido.')
  }
  const billingType = body.billingType as BillingType
  const amountCents = readCents(body.value)
  if (amountCents === undefined || amountCents <= 0n) {
    throw new Refusal(400, 'invalid_value', 'O valor da cobrança é inválido.')
  }
  const dueDate = String(body.dueDate)
  if (!isDate(dueDate) || dueDate < brasiliaDate(new Date())) {
    throw new Refusal(400, 'invalid_dueDate', 'Não é permitido data de vencimento inferior a hoje.')
  }
  const description = typeof body.description === 'string' ? body.description : null
  if (description !== null && description.length > DESCRIPTION_CHARACTERS_MAX) {
    throw new Refusal(400, 'invalid_description', 'A descrição deve ter até 500 caracteres.')
  }
  return {
    customerId: customer.id,
    billingType,
    amountCents,
    dueDate,
    description,
    externalReference: typeof body.externalReference === 'string' ? body.externalReference : null,
    card: billingType === 'CREDIT_CARD' ? readCardToken(state, customer.id, body) : undefined,
  }
}

/** Returns undefined if no token is given: the buyer then pays on the payment's page. */
function readCardToken(
  state: SandboxState,
  customerId: string,
  body: Body,
): SandboxCard | undefined {
  const token = body.creditCardToken
  if (typeof token !== 'string') return undefined
  if (body.creditCardCcv !== undefined || body.creditCard !== undefined) {
    const description = 'Informe o token ou os dados do cartão de crédito, não os dois.'
    throw new Refusal(400, 'invalid_creditCard', description)
  }
  if (typeof body.remoteIp !== 'string' || body.remoteIp === '') {
    throw new Refusal(400, 'invalid_remoteIp', 'O IP do cliente deve ser informado.')
  }
  const card = state.cards.get(token)
  if (card?.customerId !== customerId) {
    const description = `CreditCardToken ${token} não encontrado.`
    throw new Refusal(400, 'invalid_creditCard', description)
  }
  if (card.isDeclinedLater) throw declined()
  return card
}
