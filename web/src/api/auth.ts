/** Sign-in and sign-out: better-auth's own routes under /auth, which are not part of /v1. */
import { queryOptions } from '@tanstack/react-query'
import { authGet, authPost } from './auth-call.ts'
import { leaveSession, renewSession } from './session.ts'
import { notifyTabs } from './tabs.ts'

export interface SignUp {
  readonly name: string
  readonly email: string
  readonly password: string
  /** The version of the terms of use and the privacy policy. */
  readonly acceptedTerms: string
  /** The code of the customer who referred this one. */
  readonly referralCode?: string
}

/** The answer does not reveal whether the account exists; only the mail does. */
export function signUp(input: SignUp): Promise<unknown> {
  return authPost('/sign-up/email', input)
}

/** `awaitsFactor`: the password is right, and the sign-in still needs a code. */
export async function signIn(input: {
  email: string
  password: string
}): Promise<{ awaitsFactor?: true }> {
  const answer = await authPost<{ awaitsFactor?: true }>('/sign-in/email', input)
  if (!answer.awaitsFactor) await renewSession()
  return answer
}

/** The second step of a sign-in with a second factor. */
export async function giveCode(code: string): Promise<void> {
  await authPost('/sign-in/code', { code })
  await renewSession()
}

/** `returnTo`: the page of the dashboard that the link leads to. */
export function sendMagicLink(email: string, returnTo: string): Promise<unknown> {
  return authPost('/sign-in/magic-link', { email, returnTo })
}

export type Provider = 'google' | 'github' | 'microsoft'

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  google: 'Google',
  github: 'GitHub',
  microsoft: 'Microsoft',
}

/** The services with whose accounts people may sign in here. */
export const providersQuery = queryOptions({
  queryKey: ['sign-in-providers'],
  queryFn: () => authGet<{ providers: readonly Provider[] }>('/providers'),
  staleTime: Infinity,
})

/** Returns the page of the service to go to. */
export function beginByProvider(input: {
  readonly provider: Provider
  readonly returnTo?: string
  readonly referralCode?: string
}): Promise<{ url: string }> {
  return authPost('/sign-in/provider', input)
}

export function sendConfirmation(email: string): Promise<unknown> {
  return authPost('/send-verification-email', { email })
}

export function sendPasswordReset(email: string): Promise<unknown> {
  return authPost('/request-password-reset', { email })
}

export async function signOut(): Promise<void> {
  await authPost('/sign-out', {})
  await leaveSession()
  notifyTabs(null)
}
