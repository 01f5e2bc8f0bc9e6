import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { findProfile } from '../../customers/profiles.ts'
import { findTopUp } from '../../money/payments/top-ups.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { renderReceipt } from './render-receipt.ts'

type Deps = Pick<HttpParts, 'db' | 'sender'>

export const topUpReceiptRoutes = [
  restRoute({
    method: 'GET',
    path: '/topups/:id/receipt',
    tag: 'Recargas',
    summary: 'O recibo de uma recarga paga, uma página para imprimir',
    access: 'account',
    params: { id: Type.String() },
    answer: 'text/html',
    refusals: { 404: ['topup_not_found'], 409: ['topup_not_paid'] },
    async handle({ caller, params, reply }, deps: Deps) {
      const { customerId } = caller
      const topUp = await findTopUp(deps.db, customerId, params.id)
      if (!topUp) throw new RestRefusal(404, 'topup_not_found')
      const { paidAt } = topUp
      if (!paidAt) throw new RestRefusal(409, 'topup_not_paid')
      const customer = await findCustomer(deps.db, customerId)
      const page = renderReceipt({
        topUp: { ...topUp, paidAt },
        payer: await findProfile(deps.db, customerId),
        timezone: customer?.timezone,
        sender: deps.sender,
        at: new Date(),
      })
      return reply
        .type('text/html; charset=utf-8')
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        )
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'no-store')
        .send(page)
    },
  }),
]
