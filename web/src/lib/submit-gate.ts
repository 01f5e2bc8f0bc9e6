/**
 * Lets one submit through at a time, and gives all tries of one request the same `Idempotency-Key`: a try whose answer
 * was lost is repeated, and acts no second time.
 */
import { ApiError } from '../api/api-error.ts'
import { newUuid } from './new-uuid.ts'

/** The part that the API client sees. */
export interface Once {
  /** The key of this request, which is the method, the address and the body as text. */
  keyOf(request: string): string
}

export interface SubmitGate extends Once {
  /** Returns false for a submit that is to be ignored. */
  begin(): boolean
  succeed(): void
  fail(error: unknown): void
}

/**
 * A click within this time after something was created belongs to the same double click: the page may show nothing of
 * the success yet.
 */
const AGAIN_AFTER_MS = 600

export function createSubmitGate(
  later: (work: () => void, ms: number) => unknown = setTimeout,
): SubmitGate {
  let isClosed = false
  let isCreating = false
  let last: { readonly request: string; readonly key: string } | undefined

  const open = (): void => void (isClosed = false)

  return {
    begin() {
      if (isClosed) return false
      isClosed = true
      isCreating = false
      return true
    },
    keyOf(request) {
      isCreating = true
      if (last?.request !== request) last = { request, key: newUuid() }
      return last.key
    },
    succeed() {
      last = undefined
      if (isCreating) later(open, AGAIN_AFTER_MS)
      else open()
    },
    fail(error) {
      if (!mayHaveActed(error)) last = undefined
      open()
    },
  }
}

/** There was no answer, or none about the act itself. */
function mayHaveActed(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true
  const { status, code } = error
  return status === 0 || status >= 500 || code === 'idempotency_key_in_use'
}
