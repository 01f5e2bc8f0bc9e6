/** The formats of clients as the gateway has them, over a provider without a gateway between. */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { WholeChatFormat } from '../../src/gateway/calls/chat/chat-format.ts'
import type { ChatRequest } from '../../src/gateway/calls/chat/chat-request.ts'
import { createChatCompletionsFormat } from '../../src/gateway/calls/chat/formats/chat-completions/chat-completions-format.ts'
import { createGeminiFormat } from '../../src/gateway/calls/chat/formats/gemini/gemini-format.ts'
import { createMessagesFormat } from '../../src/gateway/calls/chat/formats/messages/messages-format.ts'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  readResponsesRequest,
} from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal } from '../../src/gateway/calls/refusal.ts'
import type { ChatCall, JsonObject, Provider } from '../../src/gateway/providers/contract.ts'
import type { Client, Marks } from './conversation-formats.ts'

export const MODEL = 'claude-sonnet-4-5'
const CUSTOMER = 'a customer'
const CHARGED = {
  promptTokens: 50,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 20,
  reasoningTokens: 5,
  billedNanoBrl: 1_000n,
}

export interface ChatFormats {
  readonly marks: Marks
  read(client: Client, fields: JsonObject, customerId?: string, flags?: string[]): ChatRequest
  /** The answer as the client gets it: JSON, or the text of a stream. */
  deliver(client: Client, provider: Provider, request: ChatRequest): Promise<string>
}

export function openChatFormats(): ChatFormats {
  const ids = createToolCallIds([randomBytes(32)])
  const seals = createReasoningSeals({ sealingKey: randomBytes(32) })
  const geminiStream = createGeminiFormat(ids, seals, 'events')
  const formats: Record<Client, WholeChatFormat<any>> = {
    chat: createChatCompletionsFormat(ids, (body, bytes, customerId) =>
      readResponsesRequest(body, bytes, seals(customerId)),
    ),
    messages: createMessagesFormat(ids, seals),
    responses: createResponsesFormat(seals, ids),
    gemini: createGeminiFormat(ids, seals, 'whole'),
  }
  // Its path says whether an answer is streamed.
  const formatOf = (client: Client, isStream: boolean): WholeChatFormat<any> =>
    client === 'gemini' && isStream ? geminiStream : formats[client]
  return {
    marks: {
      hidden: (id) => ids.hidden(id),
      seal: (fields) => seals(CUSTOMER).seal({ fields, calls: {} }, [MODEL]),
    },
    read(client, fields, customerId = CUSTOMER, flags = []) {
      const body = Buffer.from(JSON.stringify({ model: MODEL, ...fields }))
      const request = formatOf(client, fields.stream === true).readRequest(
        body,
        { customerId },
        flags,
      )
      if (isRefusal(request)) assert.fail(request.message)
      return request
    },
    async deliver(client, provider, request) {
      const writer = formatOf(client, request.isStream).createWriter({
        id: randomUUID(),
        modelId: MODEL,
        request,
      })
      const answered = await provider.completeChat?.(callOf(request), new AbortController().signal)
      assert.ok(answered)
      if (answered.kind === 'failure') assert.fail(answered.detail)
      if (answered.kind === 'answer') return writer.answer(answered.body, CHARGED, answered.native)
      let written = ''
      await answered.each((chunks) => {
        for (const { body, delta, native } of chunks)
          written += (delta && writer.delta?.(delta)) ?? writer.chunk(body, native) ?? ''
        return undefined
      })
      return written + writer.end(CHARGED)
    },
  }
}

export function callOf(request: ChatRequest): ChatCall {
  return {
    ...request,
    model: MODEL,
    outputTokensMax: 4_096,
    callId: 'call-1',
    webSearchesMax: 0,
  }
}
