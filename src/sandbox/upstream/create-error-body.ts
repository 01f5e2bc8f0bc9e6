export interface ErrorFacts {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** OpenAI's shape of an error. */
export function createErrorBody({ message, type, param, code }: ErrorFacts): string {
  return JSON.stringify({ error: { message, type, param, code } })
}
