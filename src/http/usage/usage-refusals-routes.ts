import Type from 'typebox'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import {
  listRefusals,
  type RefusalsOfHour,
  type RefusalFilter,
  sumRefusals,
  type RefusalStep,
} from '../../money/usage/refusals.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import { restRoute } from '../rest/rest-route.ts'
import {
  answer,
  count,
  date,
  dateTime,
  nullable,
  storedText,
  uuid,
  wholeNumber,
} from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { askedPeriod, periodQuery } from './usage-list-query.ts'

type Deps = Pick<HttpParts, 'db' | 'primary'>

const DAY_MS = 86_400_000
const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
/** Longer periods are summed by day. */
const HOURLY_DAYS_MAX = 2

const filterQuery = {
  ...periodQuery,
  model_id: Type.Optional(storedText(0, 200)),
  api_key_id: Type.Optional(uuid),
  code: Type.Optional(storedText(0, 80, 'O código do erro.')),
}

interface AskedFilter {
  readonly model_id?: string
  readonly api_key_id?: string
  readonly code?: string
}

const refused = {
  code: Type.String({ description: 'O código do erro, como em error.code da resposta.' }),
  status: Type.Integer({
    description: 'O status HTTP; o de um stream que já tinha começado, que ele teria.',
  }),
  refusals: { ...count, description: 'Quantas chamadas.' },
  first_at: dateTime,
  last_at: dateTime,
}

const refusalsOfHour = answer({
  hour_at: { ...dateTime, description: 'O começo da hora, em UTC.' },
  api_key_id: {
    ...nullable(uuid),
    description: 'null: numa hora com mais chaves e modelos do que se contam um a um.',
  },
  api_key_name: nullable(Type.String()),
  model_id: {
    ...nullable(Type.String()),
    description: 'null: a chamada não pedia um modelo do catálogo, ou nem chegou a ser lida.',
  },
  ...refused,
})

export const usageRefusalsRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage/refusals',
    tag: 'Uso',
    summary: 'Quantas chamadas tiveram um erro como resposta, por motivo e ao longo do período',
    access: 'account',
    readsFrom: 'replica',
    query: filterQuery,
    answer: answer(
      {
        from: date,
        to: date,
        refusals: count,
        reasons: Type.Array(answer(refused), { description: 'Do mais frequente ao mais raro.' }),
        step: Type.Enum(['hour', 'day']),
        parts: Type.Array(answer({ starts_at: dateTime, refusals: count }), {
          description: 'Só as partes com alguma.',
        }),
      },
      {
        description:
          'Contagens dos últimos 90 dias, alguns segundos atrasadas. Não custam nada, a não ser um stream que já tinha entregado parte da resposta. As que falharam já no modelo estão também, uma a uma, em GET /usage/calls?status=failed.',
      },
    ),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const period = await askedPeriod(deps.primary, customerId, query)
      const { from, to, timezone } = period
      const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
      const step: RefusalStep = days <= HOURLY_DAYS_MAX ? 'hour' : 'day'
      const filter = filterOf(query, period)
      const { reasons, parts } = await sumRefusals(deps.db, customerId, { filter, step, timezone })
      return {
        from,
        to,
        refusals: Number(reasons.reduce((sum, { refusals }) => sum + refusals, 0n)),
        reasons: reasons.map(refusedBody),
        step,
        parts: parts.map(({ startsAt, refusals }) => ({
          starts_at: startsAt.toISOString(),
          refusals: Number(refusals),
        })),
      }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/usage/refusals/by-hour',
    tag: 'Uso',
    summary: 'As chamadas com erro de cada hora, chave, modelo e motivo, das mais novas às antigas',
    access: 'account',
    readsFrom: 'replica',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor, ...filterQuery },
    answer: answer({ refusals: Type.Array(refusalsOfHour), next_cursor: nextCursor }),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const before = readCursor(query.cursor)
      const filter = filterOf(query, await askedPeriod(deps.primary, customerId, query))
      const found = await listRefusals(deps.db, { customerId, limit: limit + 1, filter, before })
      const { page, next_cursor } = pageOf(found, limit, ({ hourAt, id }) => ({ at: hourAt, id }))
      return { refusals: page.map(refusalsOfHourBody), next_cursor }
    },
  }),
]

function filterOf(
  { model_id: modelId, api_key_id: apiKeyId, code }: AskedFilter,
  { fromAt, untilAt }: Pick<RefusalFilter, 'fromAt' | 'untilAt'>,
): RefusalFilter {
  return { modelId, apiKeyId, code, fromAt, untilAt }
}

type Refused = Pick<RefusalsOfHour, 'code' | 'status' | 'refusals' | 'firstAt' | 'lastAt'>

function refusedBody({ code, status, refusals, firstAt, lastAt }: Refused) {
  return {
    code,
    status,
    refusals: Number(refusals),
    first_at: firstAt.toISOString(),
    last_at: lastAt.toISOString(),
  }
}

function refusalsOfHourBody(of: RefusalsOfHour): AnswerOf<typeof refusalsOfHour> {
  return {
    hour_at: toMilliseconds(of.hourAt),
    api_key_id: of.apiKeyId,
    api_key_name: of.apiKeyName,
    model_id: of.modelId,
    ...refusedBody(of),
  }
}
