/** `Idempotency-Key`: a repeated request gets the answer of the first one, and acts no second time. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Database } from '../../platform/db/open.ts'
import {
  actOnce,
  actResumably,
  type ActOutcome,
  type IdempotencyDeps,
  type Subject,
  type ThrownOutcome,
} from '../../platform/idempotency/act-once.ts'
import {
  IDEMPOTENCY_HOURS,
  IDEMPOTENCY_KEYS_MAX,
  type IdempotentRequest,
  type StoredAnswer,
} from '../../platform/idempotency/idempotency-records.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { Caller } from './authenticate.ts'
import { restErrorText, CountedRefusal, OutcomeUnknown, RestRefusal } from './rest-refusal.ts'

/**
 * How a route repeats. `in_transaction`: its handler only writes to `deps.db`, which is the transaction that stores the
 * answer too; what must follow the commit goes to `afterCommit`. `resumable`: its handler calls another service, creates
 * its row under `subject.id`, and looks for that row first if `subject.isResumed`; `ends` are the codes of refusals that
 * are outcomes of the act. A request that any other refusal ends may be sent again with the same key.
 */
export type Repeats = 'in_transaction' | { readonly ends: readonly string[] }

export const IDEMPOTENCY_HEADER = 'idempotency-key'
const KEY_LENGTH_MAX = 255

export const idempotencyHeaders = Type.Object({
  [IDEMPOTENCY_HEADER]: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: KEY_LENGTH_MAX,
      pattern: '^[\\x21-\\x7e]+$',
      description: `Um valor seu, único para cada operação, como um UUID. Repetida em até ${IDEMPOTENCY_HOURS} horas com a mesma chave e o mesmo corpo, a requisição recebe a resposta da primeira, com o cabeçalho idempotent-replayed: true, e nada acontece de novo.`,
    }),
  ),
})

/** The error codes of every route that repeats. */
export const IDEMPOTENCY_REFUSALS: Readonly<Record<number, readonly string[]>> = {
  409: ['idempotency_key_in_use'],
  422: ['idempotency_key_reused'],
  429: ['too_many_idempotency_keys'],
}

export type { Subject }

/** What one run of a route's handler works with. A handler may run again after a deadlock. */
export interface Run {
  /** In place of the route's own; undefined: the route's own. */
  readonly db?: Database
  readonly subject: Subject
  readonly afterCommit: AfterCommit
}

export type AfterCommit = (work: () => Promise<void>) => void

export interface OnceCall {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly caller: Caller
  /** The body as it arrived. */
  readonly rawBody: Buffer
  readonly repeats: Repeats
  /** Of a success. */
  readonly status: number
}

/** Returns the JSON of an answer, or the reply if the handler sent one itself. */
export type RunHandler = (run: Run) => Promise<unknown>

/** Runs a handler without an `Idempotency-Key`. */
export async function runOnce(run: RunHandler): Promise<unknown> {
  const later: (() => Promise<void>)[] = []
  const answer = await run({ subject: newSubject(), afterCommit: (work) => later.push(work) })
  for (const work of later) await work()
  return answer
}

function newSubject(): Subject {
  return { id: createId(), isResumed: false, isOwn: async () => true }
}

export function hasIdempotencyKey({ headers }: FastifyRequest): boolean {
  return headers[IDEMPOTENCY_HEADER] !== undefined
}

export async function answerOnce(
  idempotency: IdempotencyDeps,
  call: OnceCall,
  run: RunHandler,
): Promise<FastifyReply> {
  const { reply, repeats, status } = call
  const request = requestOf(call)
  const answerOf = (answer: unknown): StoredAnswer | undefined =>
    answer === reply || answer === undefined ? undefined : { status, body: JSON.stringify(answer) }
  let later: (() => Promise<void>)[] = []
  let refused: CountedRefusal | undefined
  const afterCommit: AfterCommit = (work) => later.push(work)
  const outcome =
    repeats === 'in_transaction'
      ? await actOnce(idempotency, request, async (db) => {
          // A transaction that lost a deadlock runs again.
          later = []
          refused = undefined
          try {
            return answerOf(await run({ db, subject: newSubject(), afterCommit }))
          } catch (error) {
            if (!(error instanceof CountedRefusal)) throw error
            // Thrown after the commit.
            refused = error
            return undefined
          }
        })
      : await actResumably(
          idempotency,
          request,
          async (subject) => answerOf(await run({ subject, afterCommit })),
          (thrown) => outcomeOf(thrown, repeats.ends),
        )
  if (refused) throw refused
  for (const work of later) await work()
  return send(reply, outcome)
}

function send(reply: FastifyReply, outcome: ActOutcome): FastifyReply {
  switch (outcome.kind) {
    case 'acted':
      return outcome.answer ? sendStored(reply, outcome.answer) : reply
    case 'repeated':
      return sendStored(reply.header('idempotent-replayed', 'true'), outcome.answer)
    case 'in_use':
      throw new RestRefusal(
        409,
        'idempotency_key_in_use',
        `${IDEMPOTENCY_HEADER}: a primeira requisição com ela ainda não terminou`,
        1,
      )
    case 'other_request':
      throw new RestRefusal(
        422,
        'idempotency_key_reused',
        `${IDEMPOTENCY_HEADER}: já veio em outra requisição; use um valor novo`,
      )
    case 'too_many_keys':
      throw new RestRefusal(
        429,
        'too_many_idempotency_keys',
        `${IDEMPOTENCY_HEADER}: no máximo ${IDEMPOTENCY_KEYS_MAX} em ${IDEMPOTENCY_HOURS} horas`,
        3_600,
      )
  }
}

function sendStored(reply: FastifyReply, { status, body }: StoredAnswer): FastifyReply {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(body)
}

function outcomeOf(thrown: unknown, ends: readonly string[]): ThrownOutcome {
  if (!(thrown instanceof RestRefusal) || thrown instanceof OutcomeUnknown) return 'unknown'
  const { status, code, details } = thrown
  if (!ends.includes(code)) return 'nothing_happened'
  return { status, body: restErrorText(code, details) }
}

function requestOf({ request, caller, rawBody }: OnceCall): IdempotentRequest {
  return {
    customerId: caller.customerId,
    apiKeyId: caller.keyId,
    key: String(request.headers[IDEMPOTENCY_HEADER]),
    fingerprint: fingerprintOf(request.method, request.url, rawBody),
  }
}

/** Returns the fingerprint of a request. `url` is the path with the query. */
export function fingerprintOf(method: string, url: string, rawBody: Buffer): string {
  return createHash('sha256').update(`${method} ${url}\n`).update(rawBody).digest('base64')
}
