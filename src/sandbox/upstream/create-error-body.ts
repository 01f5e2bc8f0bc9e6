export interface ErrorFacts {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** Returns the error body in OpenAI's format. */
export function createErrorBody({ message, type, param, code }: ErrorFacts): string {
  return JSON.stringify({ error: { message, type, param, code } })
}
