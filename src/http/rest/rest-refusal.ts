import type { FastifyReply } from 'fastify'
import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'

/** Handlers of REST routes throw it; the caller gets its status, code and details. */
export class RestRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: string | undefined
  /** For the header `retry-after`. */
  readonly retryAfterSeconds: number | undefined
  constructor(status: number, code: string, details?: string, retryAfterSeconds?: number) {
    super(details === undefined ? code : `${code}: ${details}`)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The act may have happened, or may still happen: a repeated request with the same `Idempotency-Key` finds out. */
export class OutcomeUnknown extends RestRefusal {}

/** Refuses an attempt that counts: what the handler wrote stays, also in the transaction of an `Idempotency-Key`. */
export class CountedRefusal extends RestRefusal {}

/** The texts of refusals without details, or with details that are not for people. */
const TEXTS: Readonly<Record<string, string>> = {
  ip_blocked_by_allowlist: refusals.ipBlocked().message,
  key_paused: 'Esta chave de API está pausada. Retome-a no painel, em Chaves.',
  internal_error: refusals.internalError().message,
}

/** A refusal of a REST route as the model API says it. */
export function refusalOfRest({ status, code, details }: RestRefusal): Refusal {
  return { kind: 'refused', status, type: code, code, message: TEXTS[code] ?? details ?? code }
}

/** A refusal of the model API for a REST route to throw; the inverse of `refusalOfRest`. */
export function toRestRefusal({ status, code, message, retryAfterSeconds }: Refusal): RestRefusal {
  return new RestRefusal(status, code, message, retryAfterSeconds)
}

/** Writes an error in the REST format: `{error: <code>, details?}`. */
export function restError(
  reply: FastifyReply,
  status: number,
  code: string,
  details?: string,
): FastifyReply {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(restErrorText(code, details))
}

export function restErrorText(code: string, details?: string): string {
  return JSON.stringify(details === undefined ? { error: code } : { error: code, details })
}

/** Sends an answer as JSON. It contains exact numbers, which only `JSON.stringify` writes. */
export function sendJson(reply: FastifyReply, body: unknown, status = 200): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}
