import { randomUUID } from 'node:crypto'
import { isObject } from '../../platform/lib/is-object.ts'
import type { Answer, AnswerApiDeps, ApiCall } from './api-call.ts'
import { changeCustomer, createCustomer } from './read-customer.ts'
import { brasiliaDate } from './brasilia-time.ts'
import { answerList, matches } from './answer-list.ts'
import type { SandboxState } from './open-state.ts'
import type { SandboxCustomer } from './sandbox-records.ts'
import { checkCard } from './test-cards.ts'
import { Refusal, renderCustomer } from './asaas-format.ts'

export function createCustomerAnswers({
  state,
  life,
}: Pick<AnswerApiDeps, 'state' | 'life'>): Record<string, Answer> {
  const customerOf = (id: string): SandboxCustomer => {
    const customer = state.customers.get(id)
    if (!customer) throw new Refusal(404, 'not_found', 'Cliente não encontrado.')
    return customer
  }
  return {
    'POST /v3/customers': ({ body }) => renderCustomer(createCustomer(state, body)),
    'GET /v3/customers': ({ query }) => {
      const all = [...state.customers.values()].filter(({ isDeleted }) => !isDeleted)
      const found = all.filter(
        ({ fields }) =>
          matches(query, 'externalReference', fields.externalReference) &&
          matches(query, 'cpfCnpj', fields.cpfCnpj) &&
          matches(query, 'email', fields.email),
      )
      return answerList(found.map(renderCustomer), query)
    },
    'GET /v3/customers/{id}': (_call, id) => renderCustomer(customerOf(id)),
    'PUT /v3/customers/{id}': ({ body }, id) => {
      const customer = customerOf(id)
      changeCustomer(customer, body)
      return renderCustomer(customer)
    },
    'DELETE /v3/customers/{id}': (_call, id) => {
      customerOf(id).isDeleted = true
      // As at Asaas, pending and overdue payments go with their customer.
      for (const payment of state.payments.values())
        if (payment.customerId === id && life.isOpen(payment)) life.remove(payment)
      return { deleted: true, id }
    },
    'POST /v3/creditCard/tokenizeCreditCard': ({ body }) => tokenize(state, body),
  }
}

function tokenize(state: SandboxState, body: ApiCall['body']): object {
  const customer = state.customers.get(String(body.customer))
  if (!customer) {
    throw new Refusal(400, 'invalid_customer', 'Customer inválido ou não informado.')
  }
  if (typeof body.remoteIp !== 'string' || body.remoteIp === '') {
    throw new Refusal(400, 'invalid_remoteIp', 'O IP do cliente deve ser informado.')
  }
  const holder = isObject(body.creditCardHolderInfo) ? body.creditCardHolderInfo : {}
  for (const name of ['name', 'email', 'cpfCnpj', 'postalCode', 'addressNumber', 'phone']) {
    if (!holder[name]) {
      throw new Refusal(400, `invalid_${name}`, `Informe ${name} do titular do cartão.`)
    }
  }
  const card = isObject(body.creditCard) ? body.creditCard : {}
  const { brand, lastFour, isDeclinedLater } = checkCard(card, brasiliaDate(new Date()))
  const token = randomUUID()
  state.cards.set(token, {
    token,
    customerId: customer.id,
    brand,
    lastFour,
    isDeclinedLater,
  })
  return { creditCardNumber: lastFour, creditCardBrand: brand, creditCardToken: token }
}
