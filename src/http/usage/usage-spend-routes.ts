import { sql } from 'kysely'
import Type from 'typebox'
import { jsonBrl } from '../../platform/lib/money.ts'
import {
  GROUPS_MAX,
  sumSpend,
  type SpendGrouping,
  type SpendRow,
  type SpendStep,
} from '../../money/usage/sum-spend.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { answer, brl, count, date, nullable } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { askedPeriod, periodQuery } from './usage-list-query.ts'

type Deps = Pick<HttpParts, 'db' | 'primary'>

const DAY_MS = 86_400_000
/** Parts of a period: as many as a chart can show, and as the database reads in a moment. */
const DAYS_MAX = 31
const WEEKS_MAX = 31
const MONTHS_MAX = 36

const groupShape = answer({
  id: nullable(
    Type.String({
      description:
        'null: o resto (outros, o que não é de nenhuma equipe ou sessão, e as sessões com mais de 50 mil chamadas).',
    }),
  ),
  name: nullable(Type.String({ description: 'O nome da chave; null para os demais.' })),
  requests: { ...count, description: 'Chamadas cobradas.' },
  failed_requests: { ...count, description: 'Chamadas que falharam e não custaram nada.' },
  cost_billed_brl: brl,
})

export const usageSpendRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage/spend',
    tag: 'Uso',
    summary:
      'O gasto de um período, por dia, semana ou mês, de cada modelo, chave, equipe ou sessão',
    access: 'account',
    readsFrom: 'replica',
    query: {
      ...periodQuery,
      by: Type.Optional(Type.Enum(['model', 'key', 'team', 'session'], { default: 'model' })),
    },
    answer: answer({
      from: date,
      to: date,
      step: Type.Enum(['day', 'week', 'month']),
      cost_billed_brl: brl,
      requests: count,
      groups: Type.Array(groupShape, {
        maxItems: GROUPS_MAX + 1,
        description: 'Do que mais custou ao que menos custou; o resto por último.',
      }),
      parts: Type.Array(
        answer({
          starts_on: { ...date, description: 'No fuso do cliente.' },
          cost_billed_brl: brl,
          costs_brl: Type.Array(brl, { description: 'De cada grupo, na mesma ordem.' }),
        }),
        { description: 'Só as partes com uso.' },
      ),
    }),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const { by = 'model' } = query
      const { from, to } = await askedPeriod(deps.primary, customerId, query)
      const step = stepOf(from, to)
      const rows = await sumSpend(deps.db, { customerId, from, to, step }, by)
      const groups = groupsOf(rows)
      const names = await namesOf(deps, customerId, by, groups)
      const days = [...Map.groupBy(rows, ({ day }) => day)]
      return {
        from,
        to,
        step,
        cost_billed_brl: jsonBrl(sumOf(rows)),
        requests: requestsOf(rows),
        groups: groups.map(({ id, rows: own }) => ({
          id,
          name: (id === null ? undefined : names.get(id)) ?? null,
          requests: requestsOf(own),
          failed_requests: own.reduce((sum, { failedRequests }) => sum + failedRequests, 0),
          cost_billed_brl: jsonBrl(sumOf(own)),
        })),
        parts: days.map(([day, ofDay]) => ({
          starts_on: day,
          cost_billed_brl: jsonBrl(sumOf(ofDay)),
          costs_brl: groups.map(({ rows: own }) =>
            jsonBrl(sumOf(own.filter((row) => row.day === day))),
          ),
        })),
      }
    },
  }),
]

/** Throws a 400 for a period that has too many months. */
function stepOf(from: string, to: string): SpendStep {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days <= DAYS_MAX) return 'day'
  if (days <= WEEKS_MAX * 7) return 'week'
  if (days <= MONTHS_MAX * 30) return 'month'
  throw new RestRefusal(400, 'invalid_request', `from: até ${MONTHS_MAX} meses antes de to`)
}

interface Group {
  readonly id: string | null
  readonly rows: readonly SpendRow[]
}

/** The rest, of no group, comes last. */
function groupsOf(rows: readonly SpendRow[]): readonly Group[] {
  return [...Map.groupBy(rows, ({ group }) => group)]
    .map(([id, own]) => ({ id, rows: own }))
    .toSorted((left, right) =>
      left.id === null || right.id === null
        ? Number(left.id === null) - Number(right.id === null)
        : Number(sumOf(right.rows) - sumOf(left.rows)),
    )
}

function sumOf(rows: readonly SpendRow[]): bigint {
  return rows.reduce((sum, { costBilledNanoBrl }) => sum + costBilledNanoBrl, 0n)
}

/** A day on which more charges were reversed than made counts as none. */
function requestsOf(rows: readonly SpendRow[]): number {
  return Math.max(
    0,
    rows.reduce((sum, { requests }) => sum + requests, 0),
  )
}

/** Of the listed keys and teams. */
async function namesOf(
  { primary }: Deps,
  customerId: string,
  by: SpendGrouping,
  groups: readonly Group[],
): Promise<ReadonlyMap<string, string>> {
  if (by !== 'key' && by !== 'team') return new Map()
  const ids = groups.flatMap(({ id }) => id ?? [])
  const named = await primary
    .selectFrom(by === 'key' ? 'api_keys' : 'teams')
    .select(['id', 'name'])
    .where('customer_id', '=', customerId)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute()
  return new Map(named.map(({ id, name }) => [id, name]))
}
