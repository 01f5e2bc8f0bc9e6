/** Sign-in and sign-out: better-auth's own routes under /auth, which are no part of /v1. */
import { authPost } from './auth-call.ts'
import { queryClient } from './query-client.ts'
import { forgetPerson } from '../lib/sign-out-acts.ts'

export interface SignUp {
  readonly name: string
  readonly email: string
  readonly password: string
  /** Of whoever brought them. */
  readonly referralCode?: string
}

/** The answer is the same whether there was such an account or not; the mail says which. */
export function signUp(input: SignUp): Promise<unknown> {
  return authPost('/sign-up/email', input)
}

/** `awaitsFactor`: the password was right, and a code is asked for before anybody is in. */
export async function signIn(input: {
  email: string
  password: string
}): Promise<{ awaitsFactor?: true }> {
  const answer = await authPost<{ awaitsFactor?: true }>('/sign-in/email', input)
  await startAfresh()
  return answer
}

/** The second step, where a factor is on. */
export async function giveCode(code: string): Promise<void> {
  await authPost('/sign-in/code', { code })
  await startAfresh()
}

/** `returnTo`: the page of ours at which the link ends. */
export function sendMagicLink(email: string, returnTo: string): Promise<unknown> {
  return authPost('/sign-in/magic-link', { email, returnTo })
}

export function sendConfirmation(email: string): Promise<unknown> {
  return authPost('/send-verification-email', { email })
}

export function sendPasswordReset(email: string): Promise<unknown> {
  return authPost('/request-password-reset', { email })
}

export async function signOut(): Promise<void> {
  await authPost('/sign-out', {})
  forgetPerson()
  await startAfresh()
}

/** Nothing of one person may show to the next one on the same machine. */
export async function startAfresh(): Promise<void> {
  await queryClient.cancelQueries()
  queryClient.clear()
}
