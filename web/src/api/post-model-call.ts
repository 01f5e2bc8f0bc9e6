/**
 * Sends a model call that is paid by one of the signed-in customer's keys. The request names the key; its secret is
 * not needed. Errors are in the format of model calls.
 */
import { queryClient } from './query-client.ts'
import { refusalOf, send } from './send.ts'
import { csrfToken, sessionQuery } from './session.ts'

export interface ModelCall {
  readonly apiKeyId: string
  /** Groups the calls of one conversation in a usage session. */
  readonly sessionId: string
  /** A UUID by which the charge is found when the answer did not report it. */
  readonly requestId: string
  readonly signal: AbortSignal
}

/** Returns an answer with status 200, or throws an ApiError. */
export async function postModelCall(
  path: string,
  call: ModelCall,
  body: object,
  accept = 'application/json',
): Promise<Response> {
  const ask = (token: string): Promise<Response> =>
    send(path, {
      method: 'POST',
      headers: {
        accept,
        'content-type': 'application/json',
        'x-csrf-token': token,
        'x-svc-api-key-id': call.apiKeyId,
        'x-svc-session-id': call.sessionId,
        'x-svc-request-id': call.requestId,
      },
      body: JSON.stringify(body),
      signal: call.signal,
    })
  const token = await csrfToken()
  const answer = await ask(token)
  if (answer.ok) return answer
  if (answer.status !== 401) throw await refusalOf(answer)
  // A new session has a new token, so the call is retried with it. With the same token, the key itself was
  // refused.
  const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
  if (!session || session.csrf_token === token) throw await refusalOf(answer)
  const second = await ask(session.csrf_token)
  if (second.ok) return second
  throw await refusalOf(second)
}
