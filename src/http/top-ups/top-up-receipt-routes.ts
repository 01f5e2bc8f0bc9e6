import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { findProfile } from '../../customers/profiles.ts'
import { findTopUp } from '../../payments/top-ups.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addRestRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { renderReceipt } from './render-receipt.ts'

export function addTopUpReceipt(server: FastifyInstance, deps: HttpDeps): void {
  const { db } = deps
  addRestRoute(server, deps, {
    method: 'GET',
    path: '/topups/:id/receipt',
    tag: 'Recargas',
    summary: 'O recibo de uma recarga paga, uma página para imprimir',
    access: 'customer',
    params: { id: Type.String() },
    answer: 'text/html',
    refusals: { 404: ['topup_not_found'], 409: ['topup_not_paid'] },
    async handle({ caller, params, reply }) {
      const { customerId } = caller
      const topUp = await findTopUp(db, customerId, params.id)
      if (!topUp) throw new RestRefusal(404, 'topup_not_found')
      const { paidAt } = topUp
      if (!paidAt) throw new RestRefusal(409, 'topup_not_paid')
      const customer = await findCustomer(db, customerId)
      const page = renderReceipt({
        topUp: { ...topUp, paidAt },
        payer: await findProfile(db, customerId),
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
  })
}
