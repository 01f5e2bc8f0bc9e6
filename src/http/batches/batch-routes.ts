/** Batches of the lines of a file, as OpenAI's clients make and read them. */
import { idList, idPageOf } from '../rest/id-list.ts'
import Type from 'typebox'
import {
  cancelBatch,
  findBatch,
  listBatches,
  WINDOW_HOURS,
  type Batch,
} from '../../customers/batches/batches.ts'
import { findFile } from '../../customers/batches/files.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { readerOf } from '../rest/reader-of.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, count, isStorableJson, nullable, storedText } from '../rest/values.ts'
import {
  afterOf,
  type BatchDeps,
  createInTurn,
  FOR_KEYS,
  idParams,
  keyOf,
  limitOf,
  pageLimit,
  textOfFile,
  TOO_MANY,
} from './batch-common.ts'
import { ENDPOINTS, idIn, publicId } from './batch-lines.ts'
import { unixSeconds } from './file-routes.ts'
import { readLines } from './read-lines.ts'

const time = nullable(Type.Integer())
const metadata = Type.Record(Type.String({ maxLength: 64 }), storedText(0, 512), {
  maxProperties: 16,
})

const batch = answer({
  id: Type.String(),
  object: Type.Literal('batch'),
  endpoint: Type.String(),
  errors: Type.Null(),
  input_file_id: Type.String(),
  completion_window: Type.Literal('24h'),
  status: Type.Enum(['in_progress', 'completed', 'expired', 'cancelling', 'cancelled']),
  output_file_id: nullable(Type.String()),
  error_file_id: nullable(Type.String()),
  created_at: Type.Integer(),
  in_progress_at: Type.Integer(),
  expires_at: Type.Integer(),
  finalizing_at: time,
  completed_at: time,
  failed_at: Type.Null(),
  expired_at: time,
  cancelling_at: time,
  cancelled_at: time,
  request_counts: answer({ total: count, completed: count, failed: count }),
  metadata: nullable(Type.Record(Type.String(), Type.String())),
})

const NOT_FOUND = { 404: ['batch_not_found'] } as const

export const batchRoutes = [
  restRoute({
    ...FOR_KEYS,
    method: 'POST',
    path: '/batches',
    summary: 'Cria um lote: cada linha do arquivo é uma chamada desta chave, ao preço de sempre',
    repeats: 'in_transaction',
    body: Type.Object({
      input_file_id: Type.String({ maxLength: 100 }),
      endpoint: Type.Enum([...ENDPOINTS]),
      completion_window: Type.Enum(['24h']),
      metadata: Type.Optional(nullable(metadata)),
    }),
    answer: batch,
    refusals: { 404: ['file_not_found'], ...TOO_MANY },
    async handle({ caller, body }, deps: BatchDeps) {
      const key = keyOf(caller)
      const { endpoint, metadata = null } = body
      if (!isStorableJson(metadata))
        throw new RestRefusal(400, 'invalid_request', 'metadata: tem caracteres inválidos')
      const inputFileId = idIn('file-', body.input_file_id)
      const file = inputFileId && (await findFile(deps.db, readerOf(caller), inputFileId))
      if (!file || file.batchId !== null)
        throw new RestRefusal(404, 'file_not_found', 'input_file_id: não é um arquivo para lotes')
      const { bodyBytesMax } = deps.config
      const created = await createInTurn(deps, actorOf(caller), {
        ...key,
        endpoint,
        inputFileId: file.id,
        metadata,
        lines: (trx) => readLines(textOfFile(trx, deps, file), { endpoint, bodyBytesMax }),
      })
      return batchBody(created)
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'GET',
    path: '/batches',
    summary: 'Os lotes, do mais novo ao mais antigo',
    query: {
      limit: pageLimit,
      after: Type.Optional(
        Type.String({ maxLength: 100, description: 'O último lote da página anterior.' }),
      ),
    },
    answer: idList(batch),
    async handle({ caller, query }, deps: BatchDeps) {
      const limit = limitOf(query.limit)
      const after = afterOf('batch_', 'after', query.after)
      const page = { limit, order: 'desc', after, messages: false } as const
      const batches = await listBatches(deps.db, readerOf(caller), page)
      return { object: 'list' as const, ...idPageOf(batches, limit, batchBody) }
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'GET',
    path: '/batches/:id',
    summary: 'Um lote',
    params: idParams,
    answer: batch,
    refusals: NOT_FOUND,
    async handle({ caller, params }, deps: BatchDeps) {
      const found = await findBatch(deps.db, batchOf(caller, params.id))
      if (!found) throw notFound()
      return batchBody(found)
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'POST',
    path: '/batches/:id/cancel',
    summary: 'Cancela um lote: as linhas em andamento terminam, e nenhuma outra começa',
    params: idParams,
    answer: batch,
    refusals: NOT_FOUND,
    async handle({ caller, params }, deps: BatchDeps) {
      const canceled = await cancelBatch(deps.db, actorOf(caller), batchOf(caller, params.id))
      if (!canceled) throw notFound()
      if (canceled === 'ended')
        throw new RestRefusal(400, 'invalid_request', 'Este lote já terminou.')
      return batchBody(canceled)
    },
  }),
]

function notFound(): RestRefusal {
  return new RestRefusal(404, 'batch_not_found', 'Este lote não existe.')
}

function batchOf(caller: Caller, text: string) {
  const id = idIn('batch_', text)
  if (id === undefined) throw notFound()
  return { reader: readerOf(caller), id, messages: false }
}

function batchBody(found: Batch): AnswerOf<typeof batch> {
  const { lines, succeeded, errored, canceled, expired, canceledAt } = found
  const status = statusOf(found)
  const endedAt = found.endedAt && unixSeconds(found.endedAt)
  return {
    id: publicId('batch_', found.id),
    object: 'batch',
    endpoint: found.endpoint,
    errors: null,
    input_file_id: found.inputFileId === null ? '' : publicId('file-', found.inputFileId),
    completion_window: `${WINDOW_HOURS}h` as '24h',
    status,
    output_file_id: found.outputFileId && publicId('file-', found.outputFileId),
    error_file_id: found.errorFileId && publicId('file-', found.errorFileId),
    created_at: unixSeconds(found.createdAt),
    in_progress_at: unixSeconds(found.createdAt),
    expires_at: unixSeconds(found.expiresAt),
    finalizing_at: endedAt,
    completed_at: status === 'completed' ? endedAt : null,
    failed_at: null,
    expired_at: status === 'expired' ? endedAt : null,
    cancelling_at: canceledAt && unixSeconds(canceledAt),
    cancelled_at: status === 'cancelled' ? endedAt : null,
    request_counts: {
      total: lines,
      completed: succeeded,
      failed: errored + canceled + expired,
    },
    metadata: found.metadata,
  }
}

function statusOf({ endedAt, canceledAt, expired }: Batch) {
  if (!endedAt) return canceledAt ? 'cancelling' : 'in_progress'
  if (canceledAt) return 'cancelled'
  return expired > 0 ? 'expired' : 'completed'
}
