/** What the routes of files and of both formats of batches have in common. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { Database } from '../../platform/db/open.ts'
import type { SealingSettings } from '../../customers/batches/batch-results.ts'
import {
  FileDeleted,
  FILES_MAX,
  readFile,
  STORED_BYTES_MAX,
  type StoredFile,
} from '../../customers/batches/files.ts'
import {
  BATCHES_MAX,
  createBatch,
  KEPT_MAX,
  type Batch,
  type BatchToCreate,
} from '../../customers/batches/batches.ts'
import type { Actor } from '../../platform/audit-log/audited.ts'
import type { Held, Share } from '../../platform/admission/share.ts'
import type { Caller } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { wholeNumber } from '../rest/values.ts'
import { idIn, type IdPrefix } from './batch-lines.ts'

export type BatchDeps = Pick<
  HttpParts,
  'db' | 'config' | 'exportSlots' | 'batchSlots' | 'fileTurns' | 'pace'
> & {
  readonly webhooks: SealingSettings
}

export const FOR_KEYS = { tag: 'Modelos', access: 'calls', takesTeamKeys: true } as const

export const idParams = { id: Type.String({ maxLength: 100 }) }

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100
export const pageLimit = wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT)

/** Lines are called, and files kept, for a key: a login session has none. */
export function keyOf(caller: Caller): { customerId: string; keyId: string } {
  const { customerId, keyId } = caller
  if (keyId !== undefined) return { customerId, keyId }
  throw new RestRefusal(400, 'invalid_request', 'Esta operação precisa de uma chave de API.')
}

/** The id that a page begins behind. */
export function afterOf(prefix: IdPrefix, name: string, text: string | undefined) {
  if (text === undefined) return undefined
  const id = idIn(prefix, text)
  if (id === undefined) throw new RestRefusal(400, 'invalid_request', `${name}: não é conhecido`)
  return id
}

export const limitOf = (limit: number | undefined): number => limit ?? LIMIT_DEFAULT

export const TOO_MANY = {
  409: ['too_many_files', 'too_many_batches'],
  429: ['rate_limit_exceeded'],
} as const

/**
 * Stores a batch, one of each customer at a time. It never waits for its turn: a request with an `Idempotency-Key` has a
 * connection already.
 */
export async function createInTurn(
  { db, webhooks, batchSlots, pace }: BatchDeps,
  actor: Actor,
  batch: BatchToCreate,
): Promise<Batch> {
  const slot = takeSlot(batchSlots, batch.customerId)
  try {
    const created = await createBatch(db, webhooks, actor, {
      ...batch,
      async *lines(trx) {
        for await (const lines of batch.lines(trx)) {
          const bytes = lines.reduce((sum, line) => sum + line.length, 0)
          await pace.wait(batch.customerId, bytes)
          yield lines
        }
      },
    })
    if (typeof created === 'string') throw tooMany(created)
    return created
  } finally {
    slot[Symbol.dispose]()
  }
}

function takeSlot(slots: Share, customerId: string): Held {
  const held = slots.take(customerId)
  if (typeof held !== 'string') return held
  throw new RestRefusal(429, 'rate_limit_exceeded', 'outro lote está sendo guardado agora', 2)
}

export function tooMany(code: 'too_many_files' | 'too_many_batches'): RestRefusal {
  return code === 'too_many_files'
    ? new RestRefusal(
        409,
        code,
        `no máximo ${FILES_MAX} arquivos, e ${STORED_BYTES_MAX / 1024 / 1024} MB com os resultados dos lotes; apague arquivos ou lotes`,
      )
    : new RestRefusal(409, code, `no máximo ${BATCHES_MAX} em andamento e ${KEPT_MAX} guardados`)
}

/** Returns the text of a file that was found. One that is deleted meanwhile is refused as one that never was. */
export async function* textOfFile(
  db: Database,
  { webhooks }: BatchDeps,
  file: StoredFile,
): AsyncGenerator<Buffer> {
  try {
    yield* readFile(db, webhooks, file)
  } catch (error) {
    throw error instanceof FileDeleted ? new RestRefusal(404, 'file_not_found') : error
  }
}

/** A client that reads nothing for this long is gone. */
const STALL_MS_MAX = 120_000

/** Sends a text as its client reads it. A failure in the middle of it cuts the connection. */
export async function sendText(
  { exportSlots }: BatchDeps,
  reply: FastifyReply,
  customerId: string,
  { type, bytes, text }: { type: string; bytes?: number; text: AsyncGenerator<Buffer> },
): Promise<FastifyReply> {
  const held = exportSlots.take(customerId)
  if (typeof held === 'string')
    throw new RestRefusal(429, 'too_many_exports', 'downloads demais ao mesmo tempo', 10)
  try {
    reply.type(type).header('cache-control', 'no-store')
    if (bytes !== undefined) reply.header('content-length', bytes)
    reply.raw.setTimeout(STALL_MS_MAX)
    await reply.send(reply.request.method === 'HEAD' ? '' : Readable.from(text))
    return reply
  } finally {
    held[Symbol.dispose]()
  }
}
