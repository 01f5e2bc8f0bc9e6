/**
 * Streams a chat that is paid by one of the signed-in customer's keys. The request names the key; its secret is
 * not needed. The answer and its errors are in the format of model calls.
 */
import { ApiError } from './api-error.ts'
import { readChatEvents, type ChatEvent } from './chat-events.ts'
import type { Body } from './client.ts'
import { queryClient } from './query-client.ts'
import { refusalOf, send } from './send.ts'
import { csrfToken, sessionQuery } from './session.ts'

export type ChatBody = Body<'post', '/chat/completions'>

export interface ChatCall {
  readonly body: ChatBody
  readonly apiKeyId: string
  /** Groups the calls of one conversation in a usage session. */
  readonly sessionId: string
  /** A UUID by which the charge is found when the stream did not report it. */
  readonly requestId: string
  readonly signal: AbortSignal
}

export async function* streamChat(call: ChatCall): AsyncGenerator<ChatEvent> {
  const { body } = await ask(call)
  if (!body) throw new ApiError(0, 'stream_broken')
  yield* readChatEvents(body)
}

async function ask(call: ChatCall): Promise<Response> {
  const token = await csrfToken()
  const answer = await post(call, token)
  if (answer.ok) return answer
  if (answer.status !== 401) throw await refusalOf(answer)
  // A new session has a new token, so the call is retried with it. With the same token, the key itself was
  // refused.
  const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
  if (!session || session.csrf_token === token) throw await refusalOf(answer)
  const second = await post(call, session.csrf_token)
  if (second.ok) return second
  throw await refusalOf(second)
}

function post(
  { body, apiKeyId, sessionId, requestId, signal }: ChatCall,
  token: string,
): Promise<Response> {
  return send('/v1/chat/completions', {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'x-csrf-token': token,
      'x-svc-api-key-id': apiKeyId,
      'x-svc-session-id': sessionId,
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
    signal,
  })
}
