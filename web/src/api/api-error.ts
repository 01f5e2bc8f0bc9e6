/** What the API refused, or the network: `code` is what `explainError` has a text for. */
export class ApiError extends Error {
  /** 0: there was no answer at all. */
  readonly status: number
  readonly code: string
  /** Technical, in English: for support, not for the page. */
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
