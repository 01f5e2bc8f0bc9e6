/** Sends one request to this server and reads its errors; the clients of /v1 and /auth build on it. */
import { ApiError } from './api-error.ts'
import { noteConnection } from './connection.ts'

/** Returns the answer or throws an ApiError. */
export async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const answer = await fetch(url, { credentials: 'same-origin', ...init })
    noteConnection(true)
    return answer
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    noteConnection(false)
    throw new ApiError(0, 'network', error instanceof Error ? error.message : undefined)
  }
}

export async function readJson(answer: Response): Promise<unknown> {
  const text = await answer.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export async function refusalOf(answer: Response): Promise<ApiError> {
  const body = (await readJson(answer)) as Record<string, unknown> | string | undefined
  if (typeof body !== 'object') return new ApiError(answer.status, codeOfStatus(answer.status))
  const { error, code, details, message } = body
  // Model calls nest their error as OpenAI does, and sign-in answers `code` and `message`.
  const nested = typeof error === 'object' ? (error as Record<string, unknown> | null) : undefined
  const found = [nested?.code, error, code].find((each) => typeof each === 'string')
  const said = [details, nested?.message, message].find((each) => typeof each === 'string')
  return new ApiError(answer.status, found ?? codeOfStatus(answer.status), said)
}

function codeOfStatus(status: number): string {
  if (status === 401) return 'unauthorized'
  if (status === 429) return 'rate_limit_exceeded'
  return status >= 500 ? 'internal_error' : 'unknown'
}
