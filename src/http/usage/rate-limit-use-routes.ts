import Type from 'typebox'
import { listKeySummaries } from '../../customers/key-summaries.ts'
import { percentOf } from '../../platform/lib/percent-of.ts'
import { sumUsageByMinute, type MinuteUse } from '../../money/usage/sum-usage-by-minute.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, count, dateTime, nullable, uuid, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const MINUTES_DEFAULT = 60
const MINUTES_MIN = 5
const MINUTES_MAX = 720
const NO_USE: MinuteUse = { current: 0, total: 0, peak: 0, peakAt: null }

const percent = Type.Number({ minimum: 0, maximum: 100 })
const use = {
  current: Type.Integer({
    minimum: 0,
    description: 'Contado neste minuto, chamadas recusadas incluídas.',
  }),
  average: Type.Number({
    minimum: 0,
    description: 'Por minuto, dos últimos minutos, este incluído; chamadas recusadas não contam.',
  }),
  peak: Type.Integer({ minimum: 0, description: 'O maior destes minutos.' }),
  peak_at: nullable(dateTime),
}

const requestUse = answer({
  limit: count,
  ...use,
  headroom_percent: percent,
  peak_headroom_percent: percent,
})

const tokenUse = answer(
  {
    limit: nullable(count),
    ...use,
    headroom_percent: nullable(percent),
    peak_headroom_percent: nullable(percent),
  },
  { description: 'Numa chave sem limite de tokens, só contam chamadas que já terminaram.' },
)

const keyUse = answer({
  api_key_id: uuid,
  name: Type.String(),
  last_four: Type.String(),
  team_id: nullable(uuid),
  requests_per_minute: requestUse,
  tokens_per_minute: tokenUse,
})

/** The use of rate limits by active keys, even while the balance is used up. */
export const rateLimitUseRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage/rate-limit',
    tag: 'Uso',
    summary: 'O uso dos limites por minuto de cada chave ativa',
    access: 'account',
    query: { minutes: wholeNumber(MINUTES_MIN, MINUTES_MAX, MINUTES_DEFAULT) },
    answer: answer({ minutes: Type.Integer(), keys: Type.Array(keyUse) }),
    async handle({ caller, query }, deps: Deps) {
      const { minutes = MINUTES_DEFAULT } = query
      const [keys, { settled, counted }] = await Promise.all([
        listKeySummaries(deps.db, caller.customerId),
        sumUsageByMinute(deps.db, caller.customerId, minutes),
      ])
      return {
        minutes,
        keys: keys
          .filter(({ status }) => status === 'active' || status === 'suspended')
          .map((key) => {
            const { requests = NO_USE, tokens = NO_USE } = settled.get(key.id) ?? {}
            const now = counted.get(key.id)
            return {
              api_key_id: key.id,
              name: key.name,
              last_four: key.lastFour,
              team_id: key.teamId,
              // A crash of the database loses the counters; settled usage survives.
              requests_per_minute: useBody(
                { ...requests, current: Math.max(now?.requests ?? 0, requests.current) },
                key.requestsPerMinute,
                minutes,
              ),
              tokens_per_minute: useBody(
                { ...tokens, current: Math.max(now?.tokens ?? 0, tokens.current) },
                key.tokensPerMinute,
                minutes,
              ),
            }
          }),
      }
    },
  }),
]

function useBody(use: MinuteUse, limit: number, minutes: number): AnswerOf<typeof requestUse>
function useBody(use: MinuteUse, limit: number | null, minutes: number): AnswerOf<typeof tokenUse>
function useBody(
  { current, total, peak, peakAt }: MinuteUse,
  limit: number | null,
  minutes: number,
): AnswerOf<typeof tokenUse> {
  return {
    limit,
    current,
    headroom_percent: headroom(current, limit),
    average: Math.round((total / minutes) * 100) / 100,
    peak,
    peak_at: peakAt?.toISOString() ?? null,
    peak_headroom_percent: headroom(peak, limit),
  }
}

function headroom(used: number, limit: number | null): number | null {
  return limit === null ? null : percentOf(BigInt(Math.max(0, limit - used)), BigInt(limit))
}
