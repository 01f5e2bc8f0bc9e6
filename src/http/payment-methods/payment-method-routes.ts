import { findAutomaticTopUp } from '../../money/payments/automatic-top-ups.ts'
import Type from 'typebox'
import {
  addPaymentMethod,
  deletePaymentMethod,
  findPaymentMethod,
  listPaymentMethods,
  PAYMENT_METHODS_MAX,
  type PaymentMethod,
} from '../../money/payments/payment-methods.ts'
import { tokenizeCard } from '../../money/payments/tokenize-card.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, dateTime, nullable, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { newCard, readNewCard, buyerOf, tooManyRejectedCards } from './new-card.ts'
import { payerOf, refuseSuspended } from '../top-ups/top-up-body.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'log' | 'signIn' | 'payments' | 'webhooks'>

const paymentMethod = answer({
  id: uuid,
  brand: nullable(Type.String({ description: 'Como o processador a chama: VISA, MASTERCARD.' })),
  last_four: Type.String(),
  holder_name: Type.String(),
  expiry_month: Type.Integer({ minimum: 1, maximum: 12 }),
  expiry_year: Type.Integer(),
  created_at: dateTime,
})

const newPaymentMethod = [
  restRoute({
    method: 'POST',
    path: '/payment-methods',
    tag: 'Recargas',
    summary: 'Cadastra um cartão no processador de pagamentos; o número e o CVV não são guardados',
    repeats: { ends: ['card_rejected'] },
    access: 'account',
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
    async handle({ caller, body, request, reply, subject }, deps: Deps) {
      const { customerId } = caller
      const { id, isResumed } = subject
      // A token without a row is of no use to anybody, so the card may be registered at the processor twice.
      const earlier = isResumed && (await findPaymentMethod(deps.db, { customerId, id }))
      if (earlier) return paymentMethodBody(earlier)
      const { card, holder } = readNewCard(body, {
        takesTestNumbers: deps.config.mode === 'sandbox',
      })
      await refuseSuspended(deps, customerId)
      const payer = await payerOf(deps, customerId)
      const { processor } = deps.payments
      const outcome = processor
        ? await tokenizeCard(deps.db, processor, {
            payer,
            card,
            holder,
            ...buyerOf(deps, caller, request),
          })
        : ({ kind: 'unavailable' } as const)
      if (outcome.kind === 'unavailable')
        throw new RestRefusal(503, 'payment_processor_unavailable', 'tente de novo em um minuto')
      if (outcome.kind === 'card_rejected')
        throw new RestRefusal(400, 'card_rejected', outcome.detail)
      if (outcome.kind === 'too_many_refusals') throw tooManyRejectedCards(deps, reply, outcome)
      if (outcome.kind === 'too_many_payment_methods') throw tooManyPaymentMethods()
      const { sealingKey } = deps.webhooks
      const added = await addPaymentMethod(deps.db, actorOf(caller), sealingKey, {
        ...outcome.method,
        id,
      })
      if (!added) throw tooManyPaymentMethods()
      return paymentMethodBody(added)
    },
  }),
]

export const paymentMethodRoutes = [
  ...newPaymentMethod,

  restRoute({
    method: 'GET',
    path: '/payment-methods',
    tag: 'Recargas',
    summary: `Os cartões, o mais antigo primeiro; no máximo ${PAYMENT_METHODS_MAX}`,
    access: 'account',
    answer: answer({
      payment_methods: Type.Array(paymentMethod),
      has_automatic_topup: Type.Boolean({
        description: 'Há uma recarga automática, ligada ou não.',
      }),
    }),
    async handle({ caller }, deps: Deps) {
      const found = await listPaymentMethods(deps.db, caller.customerId)
      const automatic = await findAutomaticTopUp(deps.db, caller.customerId)
      return {
        payment_methods: found.map(paymentMethodBody),
        has_automatic_topup: automatic !== undefined,
      }
    },
  }),

  restRoute({
    method: 'DELETE',
    path: '/payment-methods/:id',
    tag: 'Recargas',
    summary: 'Exclui um cartão; a recarga automática com ele é desativada',
    access: 'account',
    params: { id: Type.String() },
    answer: paymentMethod,
    refusals: { 404: ['payment_method_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const card = { customerId, id: params.id }
      const deleted = await deletePaymentMethod(deps.db, actorOf(caller), card)
      if (!deleted) throw new RestRefusal(404, 'payment_method_not_found')
      return paymentMethodBody(deleted)
    },
  }),
]

function tooManyPaymentMethods(): RestRefusal {
  return new RestRefusal(409, 'too_many_payment_methods', `no máximo ${PAYMENT_METHODS_MAX}`)
}

function paymentMethodBody(method: PaymentMethod): AnswerOf<typeof paymentMethod> {
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
