import Type from 'typebox'
import {
  decimalBrl,
  jsonBrl,
  NANO_PER_BRL,
  parseBrl,
  type NanoBrl,
} from '../../platform/lib/money.ts'
import { findRefundable, sumUnspent } from '../../money/payments/refunds/refundable.ts'
import { findRefund, listRefunds } from '../../money/payments/refunds/refunds.ts'
import {
  REFUND_MIN_NANO_BRL,
  requestRefund,
  WITHDRAWALS_A_DAY,
  WITHDRAWALS_A_MONTH,
} from '../../money/payments/refunds/request-refund.ts'
import { findTopUp, NANO_BRL_PER_CENTAVO } from '../../money/payments/top-ups.ts'
import { actorOf } from '../rest/authenticate.ts'
import { refundAnswer, refundBody } from './refund-body.ts'
import { answer, brl, storedText, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'config' | 'db'>

const list = [
  restRoute({
    method: 'GET',
    path: '/me/refunds',
    tag: 'Recargas',
    summary: 'Os reembolsos, os mais novos primeiro, e o que ainda pode ser reembolsado',
    access: 'account',
    query: { limit: wholeNumber(1, 200, 50), cursor },
    answer: answer({
      refundable_brl: Type.Number({ description: 'BRL pagos, não gastos e não reservados.' }),
      withdrawable_brl: Type.Number({
        description: 'Destes, os de recargas dos últimos 7 dias: sem valor mínimo e sem análise.',
      }),
      minimum_brl: brl,
      refunds: Type.Array(refundAnswer),
      next_cursor: nextCursor,
    }),
    async handle({ caller: { customerId }, query: { limit = 50, cursor } }, deps: Deps) {
      const after = readCursor(cursor)
      const refundable = await deps.db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((trx) => findRefundable(trx, customerId))
      const found = await listRefunds(deps.db, { customerId, after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, ({ exact_created_at, id }) => ({
        at: exact_created_at,
        id,
      }))
      return {
        refundable_brl: jsonBrl(sumUnspent(refundable)),
        withdrawable_brl: jsonBrl(sumUnspent(refundable.filter((part) => part.isWithdrawable))),
        minimum_brl: jsonBrl(REFUND_MIN_NANO_BRL),
        refunds: page.map(refundBody),
        next_cursor,
      }
    },
  }),
]

const create = [
  restRoute({
    method: 'POST',
    path: '/me/refunds',
    tag: 'Recargas',
    summary: 'Pede um reembolso; o valor sai do saldo na hora',
    repeats: 'in_transaction',
    access: 'account',
    body: Type.Object(
      {
        amount: Type.Optional(
          Type.Number({
            description:
              'BRL, com até dois decimais, a partir de 5; sem ele, tudo o que pode ser reembolsado.',
          }),
        ),
        topup_id: Type.Optional({ ...uuid, description: 'Só desta recarga.' }),
        reason: Type.Optional(storedText(1, 500)),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: refundAnswer,
    refusals: {
      400: ['refund_below_minimum'],
      404: ['topup_not_found'],
      409: ['amount_not_refundable'],
      429: ['too_many_withdrawals'],
    },
    async handle({ caller, body }, deps: Deps) {
      const { customerId } = caller
      const amountNanoBrl = body.amount === undefined ? undefined : readAmount(body.amount)
      const topUpId = body.topup_id
      if (topUpId !== undefined && !(await findTopUp(deps.db, customerId, topUpId)))
        throw new RestRefusal(404, 'topup_not_found')
      const requested = await requestRefund(deps.db, actorOf(caller), {
        customerId,
        amountNanoBrl,
        topUpId,
        reason: body.reason,
        reviewAboveNanoBrl: BigInt(deps.config.refundReviewAboveBrl) * NANO_PER_BRL,
      })
      if (requested.kind === 'below_minimum')
        throw new RestRefusal(
          400,
          'refund_below_minimum',
          `amount: deve ser no mínimo ${decimalBrl(REFUND_MIN_NANO_BRL)}`,
        )
      if (requested.kind === 'too_many_withdrawals')
        throw new RestRefusal(
          429,
          'too_many_withdrawals',
          `depois de ${WITHDRAWALS_A_DAY} desistências em 24 horas, ou ${WITHDRAWALS_A_MONTH} em 30 dias, só o valor inteiro: envie o pedido sem amount`,
        )
      if (requested.kind === 'not_refundable')
        throw new RestRefusal(
          409,
          'amount_not_refundable',
          `amount: pode ser no máximo ${decimalBrl(requested.refundableNanoBrl)}`,
        )
      return refundBody(requested.refund)
    },
  }),
]

export const refundRoutes = [
  ...list,
  ...create,

  restRoute({
    method: 'GET',
    path: '/me/refunds/:id',
    tag: 'Recargas',
    summary: 'Um reembolso, e se ele já foi feito',
    access: 'account',
    params: { id: Type.String() },
    answer: refundAnswer,
    refusals: { 404: ['refund_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const refund = await findRefund(deps.db, params.id, caller.customerId)
      if (!refund) throw new RestRefusal(404, 'refund_not_found')
      return refundBody(refund)
    },
  }),
]

/** Parses the number's shortest text: no floating-point arithmetic. */
function readAmount(given: number): NanoBrl {
  const amount = parseBrl(String(given))
  if (amount === undefined || amount <= 0n || amount % NANO_BRL_PER_CENTAVO !== 0n)
    throw new RestRefusal(
      400,
      'invalid_request',
      'amount: deve ser maior que zero, com no máximo duas casas decimais',
    )
  return amount
}
