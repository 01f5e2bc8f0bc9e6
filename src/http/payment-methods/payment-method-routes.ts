import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { audited } from '../../audit-log/audited.ts'
import {
  deletePaymentMethod,
  insertPaymentMethod,
  listPaymentMethods,
  PAYMENT_METHODS_MAX,
  type PaymentMethod,
} from '../../payments/payment-methods.ts'
import { tokenizeCard } from '../../payments/tokenize-card.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, dateTime, nullable, uuid } from '../rest/values.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addRestRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { newCard, readNewCard } from './new-card.ts'
import { payerOf, refuseCardsOfSuspended } from '../top-ups/top-up-body.ts'

const paymentMethod = answer({
  id: uuid,
  brand: nullable(Type.String({ description: 'Como o processador a chama: VISA, MASTERCARD.' })),
  last_four: Type.String(),
  holder_name: Type.String(),
  expiry_month: Type.Integer({ minimum: 1, maximum: 12 }),
  expiry_year: Type.Integer(),
  created_at: dateTime,
})

export function addPaymentMethods(server: FastifyInstance, deps: HttpDeps): void {
  addNewPaymentMethod(server, deps)

  addRestRoute(server, deps, {
    method: 'GET',
    path: '/payment-methods',
    tag: 'Recargas',
    summary: `Os cartões, o mais antigo primeiro; no máximo ${PAYMENT_METHODS_MAX}`,
    access: 'customer',
    answer: answer({ payment_methods: Type.Array(paymentMethod) }),
    async handle({ caller }) {
      const found = await listPaymentMethods(deps.db, caller.customerId)
      return { payment_methods: found.map(paymentMethodBody) }
    },
  })

  addRestRoute(server, deps, {
    method: 'DELETE',
    path: '/payment-methods/:id',
    tag: 'Recargas',
    summary: 'Exclui um cartão; a recarga automática com ele é desativada',
    access: 'customer',
    params: { id: Type.String() },
    answer: paymentMethod,
    refusals: { 404: ['payment_method_not_found'] },
    async handle({ caller, params }) {
      const { customerId } = caller
      const deleted = await audited(deps.db, actorOf(caller), async (trx, record) => {
        const method = await deletePaymentMethod(trx, customerId, params.id)
        if (!method) throw new RestRefusal(404, 'payment_method_not_found')
        await record({ action: 'payment_method.deleted', customerId, subjectId: method.id })
        return method
      })
      return paymentMethodBody(deleted)
    },
  })
}

function addNewPaymentMethod(server: FastifyInstance, deps: HttpDeps): void {
  addRestRoute(server, deps, {
    method: 'POST',
    path: '/payment-methods',
    tag: 'Recargas',
    summary: 'Cadastra um cartão no processador de pagamentos; o número e o CVV não são guardados',
    access: 'customer',
    body: newCard,
    status: 201,
    answer: paymentMethod,
    refusals: {
      400: [
        'missing_card_or_holder_info',
        'card_rejected',
        'invalid_cpf_cnpj_format',
        'invalid_cpf_cnpj_checksum',
        'cpf_required',
        'email_required',
      ],
      403: ['account_suspended'],
      409: ['too_many_payment_methods'],
      429: ['too_many_rejected_cards'],
      503: ['payment_processor_unavailable'],
    },
    async handle({ caller, body, reply }) {
      const { customerId, ip } = caller
      const { card, holder } = readNewCard(body, { takesTestNumbers: deps.mode === 'sandbox' })
      await refuseCardsOfSuspended(deps, customerId)
      const payer = await payerOf(deps, customerId)
      const { processor } = deps.payments
      const outcome = processor
        ? await tokenizeCard(deps.db, processor, { payer, card, holder, remoteIp: ip })
        : ({ kind: 'unavailable' } as const)
      if (outcome.kind === 'unavailable')
        throw new RestRefusal(503, 'payment_processor_unavailable', 'try again in a minute')
      if (outcome.kind === 'card_rejected')
        throw new RestRefusal(400, 'card_rejected', outcome.detail)
      if (outcome.kind === 'too_many_refusals')
        throw tooManyRejectedCards(reply, outcome.retryAfterSeconds)
      if (outcome.kind === 'too_many_payment_methods') throw tooManyPaymentMethods()
      const { sealingKey } = deps.webhooks
      const added = await audited(deps.db, actorOf(caller), async (trx, record) => {
        const method = await insertPaymentMethod(trx, sealingKey, outcome.method)
        if (!method) throw tooManyPaymentMethods()
        await record({ action: 'payment_method.added', customerId, subjectId: method.id })
        return method
      })
      return paymentMethodBody(added)
    },
  })
}

/** Of one who tries cards that are not theirs, or has bad luck. */
export function tooManyRejectedCards(reply: FastifyReply, retryAfterSeconds: number): RestRefusal {
  reply.header('retry-after', retryAfterSeconds)
  return new RestRefusal(429, 'too_many_rejected_cards', 'too many cards were refused in an hour')
}

function tooManyPaymentMethods(): RestRefusal {
  return new RestRefusal(409, 'too_many_payment_methods', `at most ${PAYMENT_METHODS_MAX}`)
}

function paymentMethodBody(method: PaymentMethod): object {
  return {
    id: method.id,
    brand: method.brand,
    last_four: method.lastFour,
    holder_name: method.holderName,
    expiry_month: method.expiryMonth,
    expiry_year: method.expiryYear,
    created_at: method.createdAt.toISOString(),
  }
}
