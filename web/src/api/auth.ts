/** Sign-in and sign-out: better-auth's own routes under /auth, which are no part of /v1. */
import { refusalOf, send } from './send.ts'
import { queryClient } from './query-client.ts'

export interface SignUp {
  readonly name: string
  readonly email: string
  readonly password: string
}

/** The answer is the same whether there was such an account or not; the mail says which. */
export function signUp(input: SignUp): Promise<unknown> {
  return post('/sign-up/email', input)
}

export async function signIn(input: { email: string; password: string }): Promise<void> {
  await post('/sign-in/email', input)
  await startAfresh()
}

export function sendMagicLink(email: string): Promise<unknown> {
  return post('/sign-in/magic-link', { email })
}

export function sendConfirmation(email: string): Promise<unknown> {
  return post('/send-verification-email', { email })
}

export function sendPasswordReset(email: string): Promise<unknown> {
  return post('/request-password-reset', { email })
}

export async function signOut(): Promise<void> {
  await post('/sign-out', {})
  await startAfresh()
}

/** Nothing of one person may show to the next one on the same machine. */
async function startAfresh(): Promise<void> {
  await queryClient.cancelQueries()
  queryClient.clear()
}

async function post(path: string, body: object): Promise<unknown> {
  const answer = await send(`/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw await refusalOf(answer)
  return answer.json().catch(() => undefined)
}
