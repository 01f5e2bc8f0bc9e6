import Type from 'typebox'
import { changeShield } from '../../customers/change-shield.ts'
import { findShield } from '../../customers/shield-setting.ts'
import { actorOf } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import type { HttpParts } from '../rest/parts.ts'
import { shieldAction, shieldSetting, shieldUuids } from './shield-fields.ts'

type Deps = Pick<HttpParts, 'db'>

const path = '/me/shield'
const tag = 'Conta'

export const shieldRoutes = [
  restRoute({
    method: 'GET',
    path,
    tag,
    summary: 'A proteção de dados pessoais (LGPD) da conta',
    access: 'account',
    answer: shieldSetting,
    handle: ({ caller }, deps: Deps) => findShield(deps.db, caller.customerId),
  }),

  restRoute({
    method: 'PUT',
    path,
    tag,
    summary:
      'Altera a proteção de dados pessoais da conta, que vale para as chaves sem uma própria; uma chave não a afrouxa além da sua',
    access: 'within',
    body: Type.Object(
      { action: Type.Optional(shieldAction), uuids: Type.Optional(shieldUuids) },
      { additionalProperties: false },
    ),
    answer: shieldSetting,
    refusals: { 403: ['beyond_own_key'] },
    async handle({ caller, body, reply }, deps: Deps) {
      const { customerId } = caller
      const changed = await changeShield(deps.db, actorOf(caller), { customerId, change: body })
      if (changed.kind === 'changed') return changed.setting
      if (changed.kind === 'own_key_ended') return reply.code(401).send()
      throw new RestRefusal(
        403,
        'beyond_own_key',
        'action: não pode ser mais frouxa que a da chave que pede',
      )
    },
  }),
]
