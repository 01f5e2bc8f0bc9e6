/** Calls of the routes under /auth, which are not part of /v1 and its contract. */
import { refusalOf, send } from './send.ts'
import { csrfToken, forgetSession } from './session.ts'

/** For users who are not signed in yet. */
export async function authPost<Result>(path: string, body: object): Promise<Result> {
  return ask(path, { method: 'POST', body: JSON.stringify(body) })
}

export async function authGet<Result>(path: string): Promise<Result> {
  return ask(path, { method: 'GET' })
}

/** A change by a signed-in user, which needs the CSRF token beside the cookie. */
export async function ownAuthPost<Result>(path: string, body: object = {}): Promise<Result> {
  const token = await csrfToken()
  return ask(path, { method: 'POST', body: JSON.stringify(body) }, { 'x-csrf-token': token })
}

/** Reads data of the signed-in user. */
export async function ownAuthGet<Result>(path: string): Promise<Result> {
  try {
    return await ask<Result>(path, { method: 'GET' }, { 'x-csrf-token': await csrfToken() })
  } catch (error) {
    if (isSignedOut(error)) forgetSession()
    throw error
  }
}

function isSignedOut(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 401
}

async function ask<Result>(
  path: string,
  init: { method: string; body?: string },
  headers: Record<string, string> = {},
): Promise<Result> {
  const answer = await send(`/auth${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  })
  if (!answer.ok) throw await refusalOf(answer)
  return (await answer.json().catch(() => undefined)) as Result
}
