import Type from 'typebox'
import {
  approveRefund,
  endManualParts,
  rejectRefund,
  type Decided,
} from '../../money/payments/refunds/decide-refund.ts'
import { listRefunds, type Refund } from '../../money/payments/refunds/refunds.ts'
import { actorOf } from '../rest/authenticate.ts'
import {
  operatedRefundAnswer,
  operatedRefundBodies,
  operatedRefundBody,
  refundStatus,
} from './refund-body.ts'
import { answer, storedText, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { ownAccount } from '../rest/access.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const forEach = {
  method: 'POST',
  repeats: 'in_transaction',
  tag: 'Administração',
  access: 'finance',
  params: { id: Type.String() },
  answer: operatedRefundAnswer,
  refusals: {
    403: ['own_account'],
    404: ['refund_not_found'],
    409: ['refund_already_decided'],
  },
} as const

export const operatorRefundRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/refunds',
    tag: 'Administração',
    summary: 'Os reembolsos de todos, os mais novos primeiro',
    access: 'support',
    query: { status: Type.Optional(refundStatus), limit: wholeNumber(1, 200, 50), cursor },
    answer: answer({ refunds: Type.Array(operatedRefundAnswer), next_cursor: nextCursor }),
    async handle({ query: { status, limit = 50, cursor } }, deps: Deps) {
      const after = readCursor(cursor)
      const found = await listRefunds(deps.db, { status, after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, ({ exact_created_at, id }) => ({
        at: exact_created_at,
        id,
      }))
      return { refunds: await operatedRefundBodies(deps.db, page), next_cursor }
    },
  }),

  restRoute({
    ...forEach,
    path: '/admin/refunds/:id/approve',
    summary: 'Aprova um reembolso que espera por análise',
    async handle({ caller, params }, deps: Deps) {
      const refund = decidedOf(
        await approveRefund(deps.db, actorOf(caller), { refundId: params.id }),
      )
      return operatedRefundBody(deps.db, refund)
    },
  }),

  restRoute({
    ...forEach,
    path: '/admin/refunds/:id/reject',
    summary: 'Recusa um reembolso que espera por análise: o valor volta ao saldo',
    body: Type.Object(
      {
        note: storedText(3, 500, 'O motivo, para o cliente ler.'),
      },
      { additionalProperties: false },
    ),
    async handle({ caller, params, body }, deps: Deps) {
      const refund = decidedOf(
        await rejectRefund(deps.db, actorOf(caller), { refundId: params.id, note: body.note }),
      )
      return operatedRefundBody(deps.db, refund)
    },
  }),

  restRoute({
    ...forEach,
    path: '/admin/refunds/:id/complete',
    summary:
      'Diz que as partes sem devolução pelo processador foram transferidas, ou não puderam ser',
    body: Type.Object({ outcome: Type.Enum(['done', 'failed']) }, { additionalProperties: false }),
    async handle({ caller, params, body: { outcome } }, deps: Deps) {
      const refund = decidedOf(
        await endManualParts(deps.db, actorOf(caller), { refundId: params.id, end: outcome }),
      )
      return operatedRefundBody(deps.db, refund)
    },
  }),
]

function decidedOf(decided: Decided): Refund {
  if (decided.kind === 'refund_not_found') throw new RestRefusal(404, 'refund_not_found')
  if (decided.kind === 'own_account') throw ownAccount()
  if (decided.kind === 'wrong_status')
    throw new RestRefusal(409, 'refund_already_decided', `o reembolso está ${decided.status}`)
  return decided.refund
}
