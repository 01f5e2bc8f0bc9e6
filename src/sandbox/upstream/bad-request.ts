/** Thrown for a request that breaks a rule of OpenAI's formats; becomes a 400. */
export class BadRequest extends Error {
  readonly param: string | null
  readonly code: string | null

  constructor(message: string, param: string | null, code: string | null) {
    super(message)
    this.param = param
    this.code = code
  }
}
