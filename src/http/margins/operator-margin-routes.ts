/** The operator's margin: the cost of the calls at the upstreams beside the amounts billed to customers. */
import Type from 'typebox'
import { addDays } from '../../platform/lib/days.ts'
import { jsonBrl, jsonUsd } from '../../platform/lib/money.ts'
import {
  daysBetween,
  MARGIN_DAYS_MAX as DAYS_MAX,
  MARGIN_ZONE,
  type MarginRow,
} from '../../money/usage/margins.ts'
import { answer, brl, count, date, dayInQuery, nullable, usd } from '../rest/values.ts'
import type { Margins } from '../../money/usage/margins.ts'
import { sumPaidTopUps } from '../../money/payments/top-ups.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

interface Deps extends Pick<HttpParts, 'db'> {
  readonly margins: Margins
}

const DAYS_DEFAULT = 30
/** BRL x 10^16 in nano-BRL. */
const E16_PER_NANO = 10_000_000n

const sums = {
  requests: { ...count, description: 'Chamadas cobradas.' },
  cost_upstream_usd: usd,
  cost_upstream_brl: { ...brl, description: 'O custo de cada chamada no câmbio dela, em BRL.' },
  billed_brl: { ...brl, description: 'O cobrado dos clientes, também do crédito promocional.' },
  margin_brl: { ...brl, description: 'O cobrado menos o custo.' },
  margin_percent: {
    ...nullable(Type.Number()),
    description: 'Do cobrado, com até dois decimais; nulo onde nada foi cobrado.',
  },
}

export const operatorMarginRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/margins',
    tag: 'Administração',
    summary: 'O custo nos provedores, o cobrado e a margem, por dia, modelo e provedor',
    access: 'finance',
    query: {
      from: dayInQuery(
        `Primeiro dia, no horário de Brasília; sem ele, ${DAYS_DEFAULT} dias até o último.`,
      ),
      to: dayInQuery(`Último dia, incluído; sem ele, hoje. Até ${DAYS_MAX} dias.`),
    },
    answer: answer({
      from: date,
      to: date,
      timezone: Type.Literal(MARGIN_ZONE),
      totals: answer(sums),
      topups: answer({
        count: { ...count, description: 'Recargas pagas no período.' },
        paid_brl: { ...brl, description: 'O que foi pago nelas, também o devolvido depois.' },
      }),
      by_day: Type.Array(answer({ day: date, ...sums }), {
        maxItems: DAYS_MAX,
        description: 'Do mais antigo ao último; os dias sem uso também.',
      }),
      by_model: Type.Array(answer({ model_id: Type.String(), ...sums })),
      by_upstream: Type.Array(
        answer({
          upstream: { ...nullable(Type.String()), description: 'Nulo: não se sabe.' },
          ...sums,
        }),
      ),
    }),
    async handle({ query }, deps: Deps) {
      const { from, to } = readWindow(query)
      const rows = await deps.margins.read(from, to)
      const topUps = await sumPaidTopUps(deps.db, { from, to, timezone: MARGIN_ZONE })
      const byDay = Map.groupBy(rows, (row) => row.day)
      return {
        from,
        to,
        timezone: MARGIN_ZONE,
        totals: sumsBody(rows),
        topups: { count: Number(topUps.count), paid_brl: jsonBrl(topUps.amountNanoBrl) },
        by_day: daysBetween(from, to).map((day) => ({ day, ...sumsBody(byDay.get(day) ?? []) })),
        by_model: grouped(rows, ({ modelId }) => modelId).map(([model_id, of]) => ({
          model_id,
          ...sumsBody(of),
        })),
        by_upstream: grouped(rows, ({ upstreamId }) => upstreamId).map(([upstream, of]) => ({
          upstream,
          ...sumsBody(of),
        })),
      }
    },
  }),
]

function readWindow(query: { from?: string; to?: string }): { from: string; to: string } {
  const to = query.to ?? todayOfZone()
  const from = query.from ?? addDays(to, 1 - DAYS_DEFAULT)
  if (from > to) throw new RestRefusal(400, 'invalid_request', 'from: não pode ser depois de to')
  if (from < addDays(to, 1 - DAYS_MAX))
    throw new RestRefusal(400, 'invalid_request', `from: no máximo ${DAYS_MAX} dias, to incluído`)
  return { from, to }
}

function todayOfZone(): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: MARGIN_ZONE, dateStyle: 'short' }).format()
}

/** Sorted by the billed amount, the largest first. */
function grouped<Key>(
  rows: readonly MarginRow[],
  keyOf: (row: MarginRow) => Key,
): [Key, readonly MarginRow[]][] {
  const billed = (of: readonly MarginRow[]): bigint =>
    of.reduce((sum, row) => sum + row.billedNanoBrl, 0n)
  return [...Map.groupBy(rows, keyOf)].toSorted(([, left], [, right]) =>
    billed(left) < billed(right) ? 1 : -1,
  )
}

/** Rounded once, at the end, to the nano-BRL. */
function sumsBody(rows: readonly MarginRow[]) {
  let [requests, costPicoUsd, costE16, billed] = [0, 0n, 0n, 0n]
  for (const row of rows) {
    requests += row.requests
    costPicoUsd += row.costPicoUsd
    costE16 += row.costE16Brl
    billed += row.billedNanoBrl
  }
  const cost = (costE16 + E16_PER_NANO / 2n) / E16_PER_NANO
  return {
    requests,
    cost_upstream_usd: jsonUsd(costPicoUsd),
    cost_upstream_brl: jsonBrl(cost),
    billed_brl: jsonBrl(billed),
    margin_brl: jsonBrl(billed - cost),
    margin_percent: billed === 0n ? null : Number(((billed - cost) * 10_000n) / billed) / 100,
  }
}
