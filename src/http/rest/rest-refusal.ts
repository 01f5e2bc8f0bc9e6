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
