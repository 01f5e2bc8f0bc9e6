/** A refusal of the API or a network failure; `explainError` maps `code` to a text. */
export class ApiError extends Error {
  /** 0 when no answer arrived. */
  readonly status: number
  readonly code: string
  /** Technical English: for support, not for the page. */
  readonly details: string | undefined

  constructor(status: number, code: string, details?: string) {
    super(details === undefined ? code : `${code}: ${details}`)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.details = details
  }

  /** The field that a 400 of the API names, as in `full_name: is required`. */
  get field(): string | undefined {
    return this.code === 'invalid_request' ? this.details?.split(':', 1)[0] : undefined
  }
}
