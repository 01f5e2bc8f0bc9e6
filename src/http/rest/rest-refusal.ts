/** Thrown by the handlers of REST routes: what the caller is told instead of an answer. */
export class RestRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: string | undefined
  constructor(status: number, code: string, details?: string) {
    super(details === undefined ? code : `${code}: ${details}`)
    this.status = status
    this.code = code
    this.details = details
  }
}
