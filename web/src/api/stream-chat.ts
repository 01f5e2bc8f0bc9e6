/** Streams a chat that is paid by one of the signed-in customer's keys. */
import { ApiError } from './api-error.ts'
import { readChatEvents, type ChatEvent } from './chat-events.ts'
import type { Body } from './client.ts'
import { postModelCall, type ModelCall } from './post-model-call.ts'

export type ChatBody = Body<'post', '/chat/completions'>

export interface ChatCall extends ModelCall {
  readonly body: ChatBody
}

export async function* streamChat(call: ChatCall): AsyncGenerator<ChatEvent> {
  const request = { ...call.body, stream: true, stream_options: { include_usage: true } }
  const { body } = await postModelCall('/v1/chat/completions', call, request, 'text/event-stream')
  if (!body) throw new ApiError(0, 'stream_broken')
  yield* readChatEvents(body)
}
