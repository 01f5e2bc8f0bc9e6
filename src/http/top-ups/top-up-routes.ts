import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import {
  createTopUp,
  resumeTopUp,
  TOP_UPS_A_DAY,
  type CreatedTopUp,
} from '../../money/payments/create-top-up.ts'
import { findChosenCard } from '../../money/payments/payment-methods.ts'
import {
  WITHDRAWALS_A_DAY,
  WITHDRAWALS_A_MONTH,
} from '../../money/payments/refunds/request-refund.ts'
import { findTopUp, listTopUps } from '../../money/payments/top-ups.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { OutcomeUnknown, RestRefusal } from '../rest/rest-refusal.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { buyerOf, tooManyRejectedCards } from '../payment-methods/new-card.ts'
import {
  accountSuspended,
  AMOUNT_BRL_MAX,
  amountFault,
  payerOf,
  refuseSuspended,
  readAmount,
  topUp,
  topUpBody,
} from './top-up-body.ts'

type Deps = Pick<HttpParts, 'db' | 'log' | 'signIn' | 'payments' | 'webhooks'>

const creating = (minimumBrl: number) => [
  restRoute({
    method: 'POST',
    path: '/topups',
    tag: 'Recargas',
    summary: 'Cria uma recarga por Pix, boleto ou cartão',
    repeats: { ends: ['card_rejected', 'payment_refused'] },
    access: 'account',
    // A Pix code or a boleto costs nobody anything until a person pays it; a saved card is charged at once.
    stricter: {
      access: 'within',
      when: 'method card',
      applies: ({ method }) => method === 'card',
    },
    body: Type.Object(
      {
        amount: Type.Optional(
          Type.Unknown({
            description: `BRL, de ${minimumBrl} a ${AMOUNT_BRL_MAX}, com até dois decimais.`,
          }),
        ),
        method: Type.Optional(Type.Enum(['pix', 'boleto', 'card'], { default: 'pix' })),
        payment_method_id: Type.Optional(
          Type.String({ maxLength: 80, description: 'O cartão, com o método card.' }),
        ),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: topUp,
    refusals: {
      400: [
        amountFault(minimumBrl),
        'cpf_required',
        'email_required',
        'card_rejected',
        'payment_refused',
      ],
      403: ['account_suspended'],
      404: ['payment_method_not_found'],
      429: [
        'too_many_rejected_cards',
        'card_limit_reached',
        'too_many_topups',
        'too_many_withdrawals',
      ],
      503: ['payment_processor_unavailable'],
    },
    async handle(
      {
        caller,
        body: { amount, method = 'pix', payment_method_id: cardId },
        request,
        reply,
        subject,
      },
      deps: Deps,
    ) {
      const amountNanoBrl = readAmount(amount, minimumBrl)
      const { customerId } = caller
      const isCard = method === 'card'
      if (isCard !== (cardId !== undefined))
        throw new RestRefusal(
          400,
          'invalid_request',
          `payment_method_id: ${isCard ? 'é obrigatório com' : 'é só para'} o método card`,
        )
      const payer = await payerOf(deps, customerId)
      const { processor } = deps.payments
      if (!processor) throw new RestRefusal(503, 'payment_processor_unavailable')
      const { id } = subject
      const resumed =
        subject.isResumed && (await resumeTopUp(deps.db, processor, { customerId, id }))
      if (resumed) return answerOf(deps, resumed, reply)
      await refuseSuspended(deps, customerId)
      const card =
        cardId === undefined
          ? undefined
          : await findChosenCard(
              deps.db,
              { processor, keys: deps.webhooks },
              { customerId, id: cardId },
            )
      if (isCard && !card) throw new RestRefusal(404, 'payment_method_not_found')
      const created = await createTopUp(deps.db, actorOf(caller), processor, {
        id,
        customerId,
        payer,
        amountNanoBrl,
        method,
        card: card && { ...card, ...buyerOf(deps, caller, request) },
        isStillDue: subject.isOwn,
      })
      return answerOf(deps, created, reply)
    },
  }),
]

export const topUpRoutes = ({ topUpMinBrl }: Pick<HttpConfig, 'topUpMinBrl'>) => [
  ...creating(topUpMinBrl),

  restRoute({
    method: 'GET',
    path: '/topups',
    tag: 'Recargas',
    summary: 'As recargas, as mais novas primeiro',
    access: 'account',
    query: { limit: wholeNumber(1, 200, 50), cursor },
    answer: answer({ topups: Type.Array(topUp), next_cursor: nextCursor }),
    async handle({ caller, query: { limit = 50, cursor } }, deps: Deps) {
      const found = await listTopUps(deps.db, caller.customerId, limit + 1, readCursor(cursor))
      const { page, next_cursor } = pageOf(found, limit, ({ exactCreatedAt, id }) => ({
        at: exactCreatedAt,
        id,
      }))
      return { topups: page.map(topUpBody), next_cursor }
    },
  }),

  restRoute({
    method: 'GET',
    path: '/topups/:id',
    tag: 'Recargas',
    summary: 'Uma recarga, e se ela já foi paga',
    access: 'account',
    params: { id: Type.String() },
    answer: topUp,
    refusals: { 404: ['topup_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const found = await findTopUp(deps.db, caller.customerId, params.id)
      if (!found) throw new RestRefusal(404, 'topup_not_found')
      return topUpBody(found)
    },
  }),
]

function answerOf(deps: Deps, outcome: CreatedTopUp, reply: FastifyReply): AnswerOf<typeof topUp> {
  if (outcome.kind !== 'created') throw refusalOf(deps, outcome, reply)
  return topUpBody(outcome.topUp)
}

function refusalOf(
  deps: Deps,
  outcome: Exclude<CreatedTopUp, { kind: 'created' }>,
  reply: FastifyReply,
): RestRefusal {
  switch (outcome.kind) {
    case 'card_rejected':
      return new RestRefusal(400, 'card_rejected', outcome.detail)
    case 'account_suspended':
      return accountSuspended()
    case 'refused':
      return new RestRefusal(400, 'payment_refused', outcome.detail)
    case 'too_many_refusals':
      return tooManyRejectedCards(deps, reply, outcome)
    case 'card_limit_reached':
      reply.header('retry-after', outcome.retryAfterSeconds)
      return new RestRefusal(
        429,
        'card_limit_reached',
        'cartões salvos pagam no máximo R$ 5.000 e dez cobranças em 24 horas, três delas em uma hora: pague por Pix',
      )
    case 'too_many_top_ups':
      return new RestRefusal(
        429,
        'too_many_topups',
        `${TOP_UPS_A_DAY.max} recargas por Pix e boleto em 24 horas: pague uma das que estão abertas.`,
        outcome.retryAfterSeconds,
      )
    case 'too_many_withdrawals':
      return new RestRefusal(
        429,
        'too_many_withdrawals',
        `a conta desistiu de ${WITHDRAWALS_A_DAY} recargas em 24 horas, ou de ${WITHDRAWALS_A_MONTH} em 30 dias: use o saldo, ou espere para recarregar`,
      )
    case 'in_flight':
      throw new Error('only automatic top-ups are one at a time')
    case 'unavailable':
      return outcome.topUpId === undefined
        ? new RestRefusal(503, 'payment_processor_unavailable', 'tente de novo em um minuto')
        : new OutcomeUnknown(
            503,
            'payment_processor_unavailable',
            `o resultado ainda não é conhecido: consulte /v1/topups/${outcome.topUpId} antes de tentar de novo`,
          )
  }
}
