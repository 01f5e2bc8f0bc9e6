/** What operators do to an account, its second factor and its keys. */
import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { changeSuspension } from '../../customers/suspend-customer.ts'
import { inTransaction } from '../../platform/db/open.ts'
import { lockAccount } from '../../money/ledger/entries.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { operatorLine, answer, uuid, reason } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { ownAccount } from '../rest/access.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { resetSecondFactor } from '../../identity/sign-in/reset-second-factor.ts'
import { findApiKeyDetails } from '../../customers/api-key-details.ts'
import { pauseKeyByOperator, resumeKeyByOperator } from '../../customers/key-acts.ts'

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

export const operatorFactorRoutes = [
  restRoute({
    method: 'POST',
    path: '/admin/customers/:id/second-factor/reset',
    tag: 'Administração',
    summary:
      'Pede que a verificação em duas etapas de um cliente seja desligada, ou, se outro operador pediu há menos de um dia, desliga-a',
    access: 'admin',
    params: { id: Type.String({ maxLength: 200 }) },
    body: Type.Object({ reason }, { additionalProperties: false }),
    answer: answer({
      customer_id: uuid,
      second_factor: Type.Enum(['waiting', 'off'], {
        description: 'waiting: falta outro operador pedir o mesmo.',
      }),
    }),
    refusals: { 403: ['own_account'], 404: ['customer_not_found'] },
    async handle({ caller, params: { id }, body }, deps: Deps) {
      const input = { customerId: id, reason: body.reason.trim() }
      const { kind } = await resetSecondFactor(deps.db, actorOf(caller), input)
      if (kind === 'own_account') throw ownAccount()
      if (kind === 'customer_not_found') throw new RestRefusal(404, kind)
      return { customer_id: id, second_factor: kind }
    },
  }),
]

const ofKey = {
  method: 'POST',
  tag: 'Administração',
  access: 'finance',
  params: { id: Type.String({ maxLength: 200 }) },
  answer: answer({
    id: uuid,
    is_paused: Type.Boolean({ description: 'Pela operação ou, se não, por quem é dono da chave.' }),
  }),
  refusals: { 403: ['own_account'], 404: ['key_not_found'] },
} as const

/** The routes that change the state of a key. They succeed also if the key already has that state. */
export const operatorKeyRoutes = [
  restRoute({
    ...ofKey,
    path: '/admin/api-keys/:id/pause',
    summary: 'Pausa uma chave até que a operação a retome',
    async handle({ caller, params }, { db }: Deps) {
      const { id } = params
      const outcome = await pauseKeyByOperator(db, actorOf(caller), { keyId: id })
      if (outcome === 'key_not_found') throw new RestRefusal(404, outcome)
      if (outcome === 'own_account') throw ownAccount()
      return { id: id.toLowerCase(), is_paused: true }
    },
  }),
  restRoute({
    ...ofKey,
    path: '/admin/api-keys/:id/resume',
    summary: 'Levanta a pausa da operação; a de quem é dono da chave continua',
    async handle({ caller, params }, { db }: Deps) {
      const { id } = params
      const outcome = await resumeKeyByOperator(db, actorOf(caller), { keyId: id })
      if (outcome === 'key_not_found') throw new RestRefusal(404, outcome)
      if (outcome === 'own_account') throw ownAccount()
      return { id: id.toLowerCase(), is_paused: await isPaused(db, id) }
    },
  }),
]

async function isPaused(db: HttpParts['db'], id: string): Promise<boolean> {
  const key = await findApiKeyDetails(db, undefined, id)
  return key !== undefined && key.pausedReason !== null
}
