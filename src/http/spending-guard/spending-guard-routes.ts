import Type from 'typebox'
import {
  changeSpendingGuard,
  findSpendingGuard,
  type SpendingGuard,
} from '../../customers/spending-guard.ts'
import { jsonBrl, NANO_PER_BRL } from '../../platform/lib/money.ts'
import { actorOf } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import type { HttpParts } from '../rest/parts.ts'
import { guardFactor, guardFloorBrl, spendingGuardSetting } from './spending-guard-fields.ts'

type Deps = Pick<HttpParts, 'db'>

const path = '/me/spending-guard'
const tag = 'Conta'

export const spendingGuardRoutes = [
  restRoute({
    method: 'GET',
    path,
    tag,
    summary: 'Quando uma chave que gasta muito mais que o habitual é pausada',
    access: 'account',
    answer: spendingGuardSetting,
    handle: async ({ caller }, { db }: Deps) =>
      guardBody(await findSpendingGuard(db, caller.customerId)),
  }),
  restRoute({
    method: 'PUT',
    path,
    tag,
    summary: 'Altera ou desliga a pausa por gasto fora do padrão; uma chave não a afrouxa',
    access: 'within',
    body: Type.Object(
      { factor: Type.Optional(guardFactor), floor_brl: Type.Optional(guardFloorBrl) },
      { additionalProperties: false },
    ),
    answer: spendingGuardSetting,
    refusals: { 403: ['beyond_own_key'] },
    async handle({ caller, body }, { db }: Deps) {
      const { customerId } = caller
      const { factor, floor_brl: floor } = body
      const change = {
        ...(factor === undefined ? {} : { factor }),
        ...(floor === undefined ? {} : { floorNanoBrl: BigInt(floor) * NANO_PER_BRL }),
      }
      const guard = await changeSpendingGuard(db, actorOf(caller), { customerId, change })
      if (guard === 'beyond_own_key')
        throw new RestRefusal(
          403,
          guard,
          'só uma sessão do painel afrouxa ou desliga esta proteção',
        )
      return guardBody(guard)
    },
  }),
]

function guardBody({ factor, floorNanoBrl }: SpendingGuard) {
  return { factor, floor_brl: jsonBrl(floorNanoBrl) }
}
