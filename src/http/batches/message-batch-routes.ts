/** Batches in the format of Messages: their requests come with them, and their results are read line by line. */
import { idPageOf } from '../rest/id-list.ts'
import Type from 'typebox'
import { readResults } from '../../customers/batches/batch-results.ts'
import {
  cancelBatch,
  deleteBatch,
  findBatch,
  LINES_MAX,
  listBatches,
  type Batch,
} from '../../customers/batches/batches.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { readerOf } from '../rest/reader-of.ts'
import { originOf } from '../rest/request-headers.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, count, dateTime, nullable } from '../rest/values.ts'
import {
  afterOf,
  type BatchDeps,
  FOR_KEYS,
  idParams,
  keyOf,
  limitOf,
  pageLimit,
  sendText,
  TOO_MANY,
  createInTurn,
} from './batch-common.ts'
import { CUSTOM_ID_MAX, idIn, MESSAGES, publicId } from './batch-lines.ts'
import { groupLines } from './read-lines.ts'

const messageBatch = answer({
  id: Type.String(),
  type: Type.Literal('message_batch'),
  processing_status: Type.Enum(['in_progress', 'canceling', 'ended']),
  request_counts: answer({
    processing: count,
    succeeded: count,
    errored: count,
    canceled: count,
    expired: count,
  }),
  created_at: dateTime,
  expires_at: dateTime,
  ended_at: nullable(dateTime),
  cancel_initiated_at: nullable(dateTime),
  archived_at: Type.Null(),
  results_url: nullable(Type.String()),
})

const FOR_ONE = { ...FOR_KEYS, params: idParams, refusals: { 404: ['batch_not_found'] } } as const
const ENDED = 'Este lote já terminou.'
const NOT_ENDED = 'Este lote ainda não terminou.'

const page = Type.Optional(Type.String({ maxLength: 100 }))

export const messageBatchRoutes = [
  restRoute({
    ...FOR_KEYS,
    method: 'POST',
    path: '/messages/batches',
    summary: 'Cria um lote de Messages: cada item é uma chamada desta chave, ao preço de sempre',
    repeats: 'in_transaction',
    takesLargeBodies: true,
    body: Type.Object({
      requests: Type.Array(
        Type.Object({
          custom_id: Type.String({ minLength: 1, maxLength: CUSTOM_ID_MAX }),
          params: Type.Object({}, { additionalProperties: true }),
        }),
        { minItems: 1, maxItems: LINES_MAX },
      ),
    }),
    answer: messageBatch,
    refusals: TOO_MANY,
    async handle({ caller, body, request }, deps: BatchDeps) {
      const lines = body.requests.map(({ custom_id, params }) => ({ custom_id, body: params }))
      const created = await createInTurn(deps, actorOf(caller), {
        ...keyOf(caller),
        endpoint: MESSAGES,
        inputFileId: null,
        metadata: null,
        lines: () => groupLines(lines),
      })
      return batchBody(created, originOf(request, deps.config.publicUrl))
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'GET',
    path: '/messages/batches',
    summary: 'Os lotes de Messages, do mais novo ao mais antigo',
    query: { limit: pageLimit, after_id: page, before_id: page },
    answer: answer({
      data: Type.Array(messageBatch),
      first_id: nullable(Type.String()),
      last_id: nullable(Type.String()),
      has_more: Type.Boolean(),
    }),
    async handle({ caller, query, request }, deps: BatchDeps) {
      const { after_id: afterId, before_id: beforeId } = query
      const limit = limitOf(query.limit)
      // What comes before a batch in this list was made after it.
      const isBackwards = beforeId !== undefined && afterId === undefined
      const batches = await listBatches(deps.db, readerOf(caller), {
        limit,
        order: isBackwards ? 'asc' : 'desc',
        after: isBackwards
          ? afterOf('msgbatch_', 'before_id', beforeId)
          : afterOf('msgbatch_', 'after_id', afterId),
        messages: true,
      })
      const origin = originOf(request, deps.config.publicUrl)
      const hasMore = batches.length > limit
      const shown = batches.slice(0, limit)
      if (isBackwards) shown.reverse()
      return { ...idPageOf(shown, limit, (each) => batchBody(each, origin)), has_more: hasMore }
    },
  }),
  restRoute({
    ...FOR_ONE,
    method: 'GET',
    path: '/messages/batches/:id',
    summary: 'Um lote de Messages',
    answer: messageBatch,
    async handle({ caller, params, request }, deps: BatchDeps) {
      const found = await findOrRefuse(deps, caller, params.id)
      return batchBody(found, originOf(request, deps.config.publicUrl))
    },
  }),
  restRoute({
    ...FOR_ONE,
    method: 'GET',
    path: '/messages/batches/:id/results',
    summary: 'Os resultados de um lote de Messages que terminou, um por linha',
    answer: 'application/jsonl',
    refusals: { ...FOR_ONE.refusals, 429: ['too_many_exports'] },
    async handle({ caller, params, reply }, deps: BatchDeps) {
      const found = await findOrRefuse(deps, caller, params.id)
      if (!found.endedAt) throw new RestRefusal(400, 'invalid_request', NOT_ENDED)
      const text = readResults(deps.db, deps.webhooks, found.id, 'all')
      return sendText(deps, reply, caller.customerId, { type: 'application/jsonl', text })
    },
  }),
  restRoute({
    ...FOR_ONE,
    method: 'POST',
    path: '/messages/batches/:id/cancel',
    summary:
      'Cancela um lote de Messages: as chamadas em andamento terminam, e nenhuma outra começa',
    answer: messageBatch,
    async handle({ caller, params, request }, deps: BatchDeps) {
      const canceled = await cancelBatch(deps.db, actorOf(caller), batchOf(caller, params.id))
      if (!canceled) throw notFound()
      if (canceled === 'ended') throw new RestRefusal(400, 'invalid_request', ENDED)
      return batchBody(canceled, originOf(request, deps.config.publicUrl))
    },
  }),
  restRoute({
    ...FOR_ONE,
    method: 'DELETE',
    path: '/messages/batches/:id',
    summary: 'Apaga um lote de Messages que terminou, com os resultados',
    answer: answer({ id: Type.String(), type: Type.Literal('message_batch_deleted') }),
    async handle({ caller, params }, deps: BatchDeps) {
      const outcome = await deleteBatch(deps.db, actorOf(caller), batchOf(caller, params.id))
      if (outcome === undefined) throw notFound()
      if (outcome === 'running') throw new RestRefusal(400, 'invalid_request', NOT_ENDED)
      return { id: params.id, type: 'message_batch_deleted' as const }
    },
  }),
]

function batchOf(caller: Caller, text: string) {
  const id = idIn('msgbatch_', text)
  if (id === undefined) throw notFound()
  return { reader: readerOf(caller), id, messages: true }
}

async function findOrRefuse({ db }: BatchDeps, caller: Caller, text: string): Promise<Batch> {
  const found = await findBatch(db, batchOf(caller, text))
  if (!found) throw notFound()
  return found
}

function notFound(): RestRefusal {
  return new RestRefusal(404, 'batch_not_found', 'Este lote não existe.')
}

function batchBody(found: Batch, origin: string): AnswerOf<typeof messageBatch> {
  const { lines, succeeded, errored, canceled, expired, endedAt, canceledAt } = found
  const id = publicId('msgbatch_', found.id)
  return {
    id,
    type: 'message_batch',
    processing_status: endedAt ? 'ended' : canceledAt ? 'canceling' : 'in_progress',
    request_counts: {
      processing: lines - succeeded - errored - canceled - expired,
      succeeded,
      errored,
      canceled,
      expired,
    },
    created_at: found.createdAt,
    expires_at: found.expiresAt,
    ended_at: endedAt,
    cancel_initiated_at: canceledAt,
    archived_at: null,
    results_url: endedAt && `${origin}/v1/messages/batches/${id}/results`,
  }
}
