import Type from 'typebox'
import { resetSecondFactor } from '../../identity/sign-in/reset-second-factor.ts'
import { ownAccount } from '../rest/access.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, reason, uuid } from '../rest/values.ts'

type Deps = Pick<HttpParts, 'db'>

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
