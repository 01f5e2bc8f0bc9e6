/** Files for batches, as OpenAI's clients upload and read them. */
import { idList, idPageOf } from '../rest/id-list.ts'
import Type from 'typebox'
import type { Turn } from '../../platform/admission/turn.ts'
import { FILE_DAYS } from '../../customers/batches/batch-results.ts'
import {
  deleteFile,
  FILE_BYTES_MAX,
  findFile,
  listFiles,
  storeFile,
  type StoredFile,
} from '../../customers/batches/files.ts'
import type {
  IncomingForm,
  UploadForm,
} from '../../gateway/calls/transcriptions/transcription-request.ts'
import { isRefusal } from '../../gateway/calls/refusal.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { readerOf } from '../rest/reader-of.ts'
import { RestRefusal, toRestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer } from '../rest/values.ts'
import type { Uploads } from '../model-calls/upload-form.ts'
import {
  afterOf,
  type BatchDeps,
  FOR_KEYS,
  idParams,
  keyOf,
  sendText,
  textOfFile,
  TOO_MANY,
  tooMany,
} from './batch-common.ts'
import { idIn, publicId } from './batch-lines.ts'

type Deps = BatchDeps & { readonly uploads: Uploads }

const DAY_SECONDS = 86_400
const NAME_MAX = 255

const file = answer({
  id: Type.String(),
  object: Type.Literal('file'),
  bytes: Type.Integer(),
  created_at: Type.Integer(),
  expires_at: Type.Integer(),
  filename: Type.String(),
  purpose: Type.Enum(['batch', 'batch_output']),
  status: Type.Literal('processed'),
})

const NOT_FOUND = { 404: ['file_not_found'] } as const

export const fileRoutes = [
  restRoute({
    ...FOR_KEYS,
    method: 'POST',
    path: '/files',
    summary: `Guarda um arquivo para um lote, por até ${FILE_DAYS} dias`,
    form: Type.Object({
      file: Type.String({ contentMediaType: 'application/octet-stream' }),
      purpose: Type.Enum(['batch']),
      'expires_after[anchor]': Type.Optional(Type.Enum(['created_at'])),
      'expires_after[seconds]': Type.Optional(Type.String()),
    }),
    answer: file,
    refusals: { 400: ['invalid_request'], ...TOO_MANY, 429: ['rate_limit_exceeded'] },
    async handle({ caller, request }, deps: Deps) {
      const { customerId, keyId } = keyOf(caller)
      const form = await readForm(deps.uploads.formOf(request.raw, FILE_BYTES_MAX), customerId)
      const { file: uploaded } = form
      let turn: Turn | undefined
      try {
        if (!uploaded) throw invalid('file: é obrigatório')
        const { name, bytes } = uploaded
        turn = await deps.fileTurns.take(customerId)
        if (!turn) throw new RestRefusal(429, 'rate_limit_exceeded', undefined, 2)
        const stored = await storeFile(deps.db, deps.webhooks, actorOf(caller), {
          customerId,
          keyId,
          name: nameOf(name),
          bytes,
          seconds: readFields(form),
          read: () => uploaded.read(),
        })
        if (stored === 'too_many_files') throw tooMany(stored)
        return fileBody(stored)
      } finally {
        turn?.[Symbol.dispose]()
        uploaded?.dispose()
      }
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'GET',
    path: '/files',
    summary: 'Os arquivos guardados',
    query: {
      purpose: Type.Optional(Type.Enum(['batch', 'batch_output'])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 100 })),
      order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'desc' })),
      after: Type.Optional(
        Type.String({ maxLength: 100, description: 'O último arquivo da página anterior.' }),
      ),
    },
    answer: idList(file),
    async handle({ caller, query }, deps: Deps) {
      const { limit = 100, order = 'desc', purpose } = query
      const files = await listFiles(deps.db, readerOf(caller), {
        limit,
        order,
        after: afterOf('file-', 'after', query.after),
        isOfBatches: purpose && purpose === 'batch_output',
      })
      return { object: 'list' as const, ...idPageOf(files, limit, fileBody) }
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'GET',
    path: '/files/:id',
    summary: 'Um arquivo guardado',
    params: idParams,
    answer: file,
    refusals: NOT_FOUND,
    handle: async ({ caller, params }, deps: Deps) =>
      fileBody(await findOrRefuse(deps, caller, params.id)),
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'GET',
    path: '/files/:id/content',
    summary: 'O conteúdo de um arquivo guardado',
    params: idParams,
    answer: 'application/jsonl',
    refusals: { ...NOT_FOUND, 429: ['too_many_exports'] },
    async handle({ caller, params, reply }, deps: Deps) {
      const found = await findOrRefuse(deps, caller, params.id)
      const text = textOfFile(deps.db, deps, found)
      const content = { type: 'application/jsonl', bytes: found.bytes, text }
      return sendText(deps, reply, caller.customerId, content)
    },
  }),
  restRoute({
    ...FOR_KEYS,
    method: 'DELETE',
    path: '/files/:id',
    summary: 'Apaga um arquivo guardado',
    params: idParams,
    answer: answer({
      id: Type.String(),
      object: Type.Literal('file'),
      deleted: Type.Literal(true),
    }),
    refusals: NOT_FOUND,
    async handle({ caller, params }, deps: Deps) {
      const id = idIn('file-', params.id)
      const of = { reader: readerOf(caller), id: id ?? '' }
      if (id === undefined || !(await deleteFile(deps.db, actorOf(caller), of))) throw notFound()
      return { id: params.id, object: 'file' as const, deleted: true as const }
    },
  }),
]

/** The file waits on the disk until the whole form is here. */
async function readForm(form: IncomingForm, customerId: string): Promise<UploadForm> {
  const read = await form.read(customerId)
  if (isRefusal(read)) throw toRestRefusal(read)
  return read
}

/** Checks the fields beside the file, and returns for how many seconds it is kept. */
function readFields({ fields }: UploadForm): number {
  const given = new Map(fields)
  if (given.get('purpose') !== 'batch') throw invalid('purpose: só batch existe aqui')
  const seconds = given.get('expires_after[seconds]')
  if (seconds === undefined) return FILE_DAYS * DAY_SECONDS
  const read = /^\d{1,8}$/.test(seconds) ? Number(seconds) : 0
  if (read < 3_600 || read > FILE_DAYS * DAY_SECONDS)
    throw invalid(`expires_after[seconds]: de 3600 a ${FILE_DAYS * DAY_SECONDS}`)
  return read
}

/** What the database can store, and a list can show. */
function nameOf(name: string): string {
  // oxlint-disable-next-line no-control-regex
  return name.replace(/[\u0000-\u001f\u007f]/g, ' ').slice(0, NAME_MAX) || 'arquivo'
}

function invalid(details: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', details)
}

function notFound(): RestRefusal {
  return new RestRefusal(
    404,
    'file_not_found',
    'Este arquivo não existe: foi apagado ou passou do prazo.',
  )
}

async function findOrRefuse({ db }: BatchDeps, caller: Caller, text: string): Promise<StoredFile> {
  const id = idIn('file-', text)
  const found = id && (await findFile(db, readerOf(caller), id))
  if (!found) throw notFound()
  return found
}

function fileBody(stored: StoredFile): AnswerOf<typeof file> {
  return {
    id: publicId('file-', stored.id),
    object: 'file',
    bytes: stored.bytes,
    created_at: unixSeconds(stored.createdAt),
    expires_at: unixSeconds(stored.expiresAt),
    filename: stored.name,
    purpose: stored.batchId === null ? 'batch' : 'batch_output',
    status: 'processed',
  }
}

export function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}
