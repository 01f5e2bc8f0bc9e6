/**
 * The login session, as `GET /v1/session` reports it, and the CSRF token that changes need beside the cookie.
 */
import { queryOptions } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import type { Contract } from './contract.ts'
import { refusalOf, send } from './send.ts'
import { queryClient } from './query-client.ts'

export type Session = Contract['get']['/session']['answer']

/** `null`: nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: 5 * 60_000,
})

async function readSession(): Promise<Session | null> {
  const answer = await send('/v1/session', { headers: { accept: 'application/json' } })
  if (answer.ok) return (await answer.json()) as Session
  if (answer.status === 401) return null
  throw await refusalOf(answer)
}

export async function csrfToken(): Promise<string> {
  const session = await queryClient.ensureQueryData(sessionQuery)
  if (!session?.csrf_token) throw new ApiError(401, 'unauthorized')
  return session.csrf_token
}

/** Called after a 401: the layout notices it and goes to the sign-in page. */
export function forgetSession(): void {
  queryClient.setQueryData(sessionQuery.queryKey, null)
}
