import type { JsonObject } from '../../providers/contract.ts'
import { shieldChat, type ShieldOptions } from '../../shield/shield-chat.ts'
import type { ChatRequest } from '../chat/chat-request.ts'
import type { ShieldedRequest } from './text-shield.ts'

export function shieldChatRequest<Request extends ChatRequest>(
  request: Request,
  options: ShieldOptions,
): ShieldedRequest<Request> {
  const outcome = shieldChat(request.body, options)
  if (outcome.kind !== 'masked') return outcome
  const { body, counts, placeholders, bytesAdded } = outcome
  return {
    kind: 'masked',
    counts,
    request: {
      ...request,
      body,
      messages: body.messages as readonly JsonObject[],
      bytes: request.bytes + bytesAdded,
      placeholders,
      memo: {},
    },
  }
}
