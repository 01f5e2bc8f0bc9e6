/**
 * The login session, as `GET /v1/session` reports it, and the CSRF token that changes need beside the cookie.
 * All tabs of a browser share the cookie, so another tab can end the session of this one, or put another
 * customer's in its place.
 */
import { queryOptions } from '@tanstack/react-query'
import { isOtherCustomer } from '../lib/last-customer.ts'
import { forgetPerson } from '../lib/sign-out-acts.ts'
import { ApiError } from './api-error.ts'
import { cacheOwner, setCacheOwner } from './cache-owner.ts'
import type { Contract } from './contract.ts'
import { refusalOf, send } from './send.ts'
import { queryClient, SESSION_KEY } from './query-client.ts'
import { onNewsOfTabs, notifyTabs } from './tabs.ts'

export type Session = Contract['get']['/session']['answer']

/** `null`: nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: readSession,
  staleTime: 5 * 60_000,
  // A tab that slept has missed the messages of other tabs.
  refetchOnWindowFocus: 'always',
})

async function readSession(): Promise<Session | null> {
  const answer = await send('/v1/session', { headers: { accept: 'application/json' } })
  if (answer.ok) {
    const session = (await answer.json()) as Session
    takeOver(session.customer.id)
    return session
  }
  if (answer.status === 401) return null
  throw await refusalOf(answer)
}

/** Before the new session is shown, so that no page has data of two customers. */
function takeOver(customerId: string): void {
  const before = cacheOwner()
  if (before === customerId) return
  setCacheOwner(customerId)
  notifyTabs(customerId)
  if (isOtherCustomer(customerId)) forgetPerson()
  if (before !== undefined) dropOwnData()
}

/** Everything that this tab holds of the customer, except the session. */
function dropOwnData(): void {
  forgetPerson()
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
}

/** `onChange` runs after this tab has followed another one. */
export function followTabs(onChange: () => void): void {
  onNewsOfTabs((customerId) => {
    const known = queryClient.getQueryData(sessionQuery.queryKey)
    if ((known?.customer.id ?? null) === customerId) return
    // If the session cannot be read now, it is read when the user looks at this tab.
    void (customerId === null ? leaveSession() : renewSession()).then(onChange, () => {})
  })
}

/** After a sign-out, here or in another tab. */
export async function leaveSession(): Promise<void> {
  await queryClient.cancelQueries()
  setCacheOwner(undefined)
  dropOwnData()
  forgetSession()
}

/** After a sign-in, here or in another tab. The data of the same customer stays, and is read again. */
export async function renewSession(): Promise<Session | null> {
  const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0],
  })
  return session
}

export async function csrfToken(): Promise<string> {
  const session = await queryClient.ensureQueryData(sessionQuery)
  if (!session?.csrf_token) throw new ApiError(401, 'unauthorized')
  return session.csrf_token
}

/**
 * For reads: the server refuses them if the cookie has another session by now. Undefined before the session is
 * known, and for visitors.
 */
export function knownToken(): string | undefined {
  return queryClient.getQueryData(sessionQuery.queryKey)?.csrf_token
}

/** Called after a 401: the layout notices it and asks the user to sign in again. */
export function forgetSession(): void {
  queryClient.setQueryData(sessionQuery.queryKey, null)
}
