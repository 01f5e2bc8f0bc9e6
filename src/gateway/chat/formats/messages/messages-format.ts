/**
 * The format of Anthropic's Messages. Its requests are translated to the chat-completions shape, so that every model of
 * the catalog answers them.
 */
import type { JsonObject } from '../../../../providers/contract.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import { readJsonBody } from '../../../read-json-body.ts'
import type { ChatFormat } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { InvalidField } from '../invalid-field.ts'
import { createMessageStream } from './message-stream.ts'
import { messagesErrorBody } from './messages-error-body.ts'
import { toChatBody } from './to-chat-body.ts'
import { wholeMessage } from './whole-message.ts'

export function createMessagesFormat(ids: ToolCallIds): ChatFormat {
  return {
    readRequest: (raw) => readMessagesRequest(ids, raw, {}),
    createWriter({ id, modelId }) {
      const head = { id: `msg_${id}`, modelId }
      const stream = createMessageStream(head, ids)
      return {
        answer: (body, charged) => wholeMessage(head, ids, body, charged),
        chunk: (body) => stream.chunk(body),
        end: (charged) => stream.end(charged),
        broken: (refused) => `event: error\ndata: ${messagesErrorBody(refused)}\n\n`,
      }
    },
  }
}

/** The requests for counts of tokens: they have no output, and so need no limit of it. */
export function createMessageTokensFormat(ids: ToolCallIds): ChatFormat {
  return {
    ...createMessagesFormat(ids),
    readRequest: (raw) => readMessagesRequest(ids, raw, { max_tokens: 1 }),
  }
}

function readMessagesRequest(
  ids: ToolCallIds,
  raw: Buffer,
  defaults: JsonObject,
): ChatRequest | Refusal {
  const body = readJsonBody(raw)
  if (isRefusal(body)) return body
  try {
    const request = readChatRequest(toChatBody({ ...defaults, ...body }), raw.length)
    if (isRefusal(request)) return request
    // Before anything is measured: the hold is for the ids that an upstream gets.
    ids.reveal(request.messages)
    // The format requires a limit, so agents send one that is high enough for any model.
    return { ...request, isLimitLowered: true }
  } catch (error) {
    if (error instanceof InvalidField) return refusals.invalidRequest(error.message)
    throw error
  }
}
