import Type from 'typebox'
import { sumShieldCounts } from '../../customers/shield-counts.ts'
import { answer, count, date, uuid, wholeNumber } from '../rest/values.ts'
import { restRoute } from '../rest/rest-route.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db'>

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
