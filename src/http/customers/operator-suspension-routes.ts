import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { changeSuspension } from '../../customers/suspend-customer.ts'
import { inTransaction } from '../../platform/db/open.ts'
import { lockAccount } from '../../money/ledger/entries.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { operatorLine, answer, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { ownAccount } from '../rest/access.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const forEach = {
  method: 'POST',
  tag: 'Administração',
  access: 'finance',
  params: { id: Type.String() },
  answer: answer({ customer_id: uuid, is_suspended: Type.Boolean() }),
  refusals: { 403: ['own_account'], 404: ['customer_not_found'] },
} as const

/** The routes that suspend and reinstate an account. Both succeed if the account already has that state. */
export const operatorSuspensionRoutes = [
  restRoute({
    ...forEach,
    path: '/admin/customers/:id/suspend',
    summary: 'Suspende uma conta: as chamadas de modelos e as recargas são recusadas',
    body: Type.Object(
      { reason: operatorLine(3, 300, 'O motivo, que o cliente lê no painel e no e-mail.') },
      { additionalProperties: false },
    ),
    handle: ({ caller, params, body }, deps: Deps) =>
      change(deps, caller, params.id, body.reason.trim()),
  }),

  restRoute({
    ...forEach,
    path: '/admin/customers/:id/reinstate',
    summary: 'Reativa uma conta suspensa',
    handle: ({ caller, params }, deps: Deps) => change(deps, caller, params.id, undefined),
  }),
]

async function change(
  { db }: Deps,
  caller: Caller,
  customerId: string,
  reason: string | undefined,
) {
  if (!isUuid(customerId) || !(await findCustomer(db, customerId)))
    throw new RestRefusal(404, 'customer_not_found')
  await inTransaction(db, async (trx) => {
    // The order in which deleting an account locks: the keys before the customer.
    await lockAccount(trx, customerId)
    if (!(await changeSuspension(trx, actorOf(caller), { customerId, reason }))) throw ownAccount()
  })
  return { customer_id: customerId, is_suspended: reason !== undefined }
}
