import Type from 'typebox'
import { jsonBrl } from '../../platform/lib/money.ts'
import { listCalls, type Call } from '../../money/usage/list-usage-events.ts'
import type { CallOutcome } from '../../money/usage/usage-event.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { nextCursor } from '../rest/cursor.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, brl, nullable } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { usageEvent, usageEventBody } from './usage-event.ts'
import { archivedBefore, readUsagePage, usageListQuery } from './usage-list-query.ts'

/** Why a call failed, in words for customers: the gateway's own words say which route did what. */
const FAILURES = [
  'client_left',
  'request_refused',
  'model_busy',
  'model_slow',
  'model_failed',
  'service_failed',
] as const

type CallFailure = (typeof FAILURES)[number]

const BY_REASON: Readonly<Record<string, CallFailure>> = {
  client_left: 'client_left',
  not_delivered: 'client_left',
  refused_request: 'request_refused',
  unsupported: 'request_refused',
  answer_too_long: 'request_refused',
  rate_limited: 'model_busy',
  unpaid_work: 'model_busy',
  no_room: 'model_busy',
  first_byte_timeout: 'model_slow',
  idle_timeout: 'model_slow',
  aborted: 'model_slow',
  connect_failed: 'model_failed',
  connection_lost: 'model_failed',
  server_error: 'model_failed',
  bad_answer: 'model_failed',
  credentials_refused: 'model_failed',
}

/** A reason that is not listed is a fault of the service itself, such as a lost node. */
function failureOf(reason: string | null): CallFailure {
  return (reason === null ? undefined : BY_REASON[reason]) ?? 'service_failed'
}

type Deps = Pick<HttpParts, 'db' | 'primary'>

const OUTCOMES: Readonly<Record<'charged' | 'failed', CallOutcome>> = {
  charged: 'charged',
  failed: 'released',
}

const ms = nullable(Type.Integer({ minimum: 0 }))

const call = answer({
  ...usageEvent.properties,
  status: Type.Enum(['charged', 'failed']),
  failure: {
    ...nullable(Type.Enum([...FAILURES])),
    description:
      'Por que a chamada falhou, sem custo: client_left, o cliente desligou antes da resposta; request_refused, o modelo não aceitou a requisição; model_busy, limite ou lotação do modelo; model_slow, não respondeu a tempo; model_failed, falha do modelo; service_failed, falha nossa.',
  },
  is_stream: Type.Boolean(),
  first_byte_ms: { ...ms, description: 'Do pedido ao modelo até o primeiro byte.' },
  duration_ms: { ...ms, description: 'Do pedido ao modelo até o fim da resposta.' },
  tokens_per_second: nullable(
    Type.Number({
      minimum: 0,
      description: 'Tokens de saída por segundo, depois do primeiro byte.',
    }),
  ),
  cache_saved_brl: {
    ...brl,
    description:
      'Quanto a mais a chamada custaria sem cache: os tokens lidos do cache do modelo, como entrada comum, ou a resposta reaproveitada (x-svc-cache), como uma nova.',
  },
  routing_saved_brl: {
    ...brl,
    description:
      'Quanto a mais o mesmo uso custaria pelo preço mais alto que podia valer para a chamada, o que foi reservado: o da rota mais cara que podia responder, ou o de outro horário.',
  },
})

export const usageCallsRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage/calls',
    tag: 'Uso',
    summary: 'As chamadas, também as que falharam sem custo, das mais novas para as mais antigas',
    access: 'account',
    readsFrom: 'replica',
    query: {
      ...usageListQuery,
      status: Type.Optional(Type.Enum(['charged', 'failed'])),
    },
    answer: answer({
      calls: Type.Array(call, {
        description:
          'As que foram recusadas antes de chegar a um modelo (saldo, limites, chave, requisição inválida) são contadas em GET /usage/refusals.',
      }),
      next_cursor: nextCursor,
      archived_before: archivedBefore,
    }),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const { status } = query
      const outcomes = status === undefined ? Object.values(OUTCOMES) : [OUTCOMES[status]]
      const { page, ...rest } = await readUsagePage(deps.primary, customerId, query, (list) =>
        listCalls(deps.db, list, outcomes),
      )
      return { calls: page.map(callBody), ...rest }
    },
  }),
]

function callBody(of: Call): AnswerOf<typeof call> {
  const isCharged = of.outcome === 'charged'
  return {
    ...usageEventBody(of),
    status: isCharged ? 'charged' : 'failed',
    failure: isCharged ? null : failureOf(of.reason),
    is_stream: of.isStream,
    first_byte_ms: of.firstByteMs,
    duration_ms: of.durationMs,
    tokens_per_second: isCharged ? paceOf(of) : null,
    cache_saved_brl: jsonBrl(of.cacheSavedNanoBrl),
    routing_saved_brl: jsonBrl(of.routingSavedNanoBrl),
  }
}

/** Unknown for answers that came in one piece: nearly all of their time is before the first byte. */
function paceOf({ isStream, completionTokens, firstByteMs, durationMs }: Call): number | null {
  if (!isStream || firstByteMs === null || durationMs === null || completionTokens < 2) return null
  const seconds = (durationMs - firstByteMs) / 1_000
  return seconds > 0 ? Math.round((completionTokens / seconds) * 10) / 10 : null
}
