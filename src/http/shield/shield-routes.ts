import Type from 'typebox'
import { changeShield } from '../../customers/change-shield.ts'
import { findShield } from '../../customers/shield-setting.ts'
import { actorOf } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import type { HttpParts } from '../rest/parts.ts'
import { shieldAction, shieldSetting, shieldUuids } from './shield-fields.ts'
import { sumShieldCounts } from '../../customers/shield-counts.ts'
import { answer, count, date, uuid, wholeNumber } from '../rest/values.ts'

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

const DAYS_DEFAULT = 30
const DAYS_MAX = 365

const sums = {
  masked: { ...count, description: 'Dados que foram ao modelo como marcadores.' },
  blocked: { ...count, description: 'Dados que estavam em chamadas recusadas.' },
}

export const shieldReportRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/shield/report',
    tag: 'Conta',
    summary: 'O que a proteção de dados pessoais encontrou nos últimos dias, sem os valores',
    access: 'account',
    readsFrom: 'replica',
    query: { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT) },
    answer: answer({
      days: Type.Integer(),
      by_kind: Type.Array(
        answer({
          kind: Type.String({ description: 'cpf, cnpj, email, phone, card ou pix_key.' }),
          ...sums,
        }),
      ),
      by_day: Type.Array(answer({ day: date, ...sums }), {
        description: 'Do mais antigo até hoje, no fuso do cliente, só os dias em que houve algo.',
      }),
      by_key: Type.Array(answer({ api_key_id: uuid, name: Type.String(), ...sums })),
    }),
    async handle({ caller, query }, deps: Deps) {
      const { days = DAYS_DEFAULT } = query
      const { byKind, byDay, byKey } = await sumShieldCounts(deps.db, caller.customerId, days)
      return {
        days,
        by_kind: [...byKind],
        by_day: [...byDay],
        by_key: byKey.map(({ keyId: api_key_id, ...rest }) => ({ api_key_id, ...rest })),
      }
    },
  }),
]
