/** Thrown for a request that violates OpenAI's format; it becomes a 400. */
export class BadRequest extends Error {
  readonly param: string | null
  readonly code: string | null

  constructor(message: string, param: string | null, code: string | null) {
    super(message)
    this.param = param
    this.code = code
  }
}
