// deep: an attack
/** Prompts to which an upstream adds text of its own, and bills it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInModels } from '../../src/money/catalog/built-in-models.ts'
import { boundChat } from '../../src/gateway/calls/chat/bound-chat.ts'
import { readChatRequest, type ChatRequest } from '../../src/gateway/calls/chat/chat-request.ts'
import type { ChatContent, Provider } from '../../src/gateway/providers/contract.ts'
import { createChatBody } from '../../src/gateway/providers/openai-compatible/chat-body.ts'
import { OPEN_CHAT_FIELDS } from '../../src/gateway/providers/openai-compatible/chat-deltas.ts'

/**
 * The prompt tokens that api.x.ai reports for a greeting: of grok-4 as doc.302.ai/api-263332597 prints it (679 of them
 * cached), of grok-code-fast-1 as open.vnet.com/444316790e0 does (194 cached).
 */
const REPORTED = { 'grok-4': 686, 'grok-code-fast': 206 }

for (const [id, tokens] of Object.entries(REPORTED)) {
  test(`the bound of a prompt covers the text that xAI adds to it: ${id}`, async () => {
    const model = builtInModels.find((each) => each.id === id)
    assert.ok(model)
    const body = { model: id, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 }
    const request = readChatRequest(body, JSON.stringify(body).length) as ChatRequest
    const chatBody = createChatBody({
      fields: OPEN_CHAT_FIELDS,
      maxTokensField: 'max_completion_tokens',
    })
    const provider = {
      completeChat() {},
      measureChat: (content: ChatContent) => chatBody.measure(content),
    } as unknown as Provider
    const { promptTokensMax } = await boundChat(
      model as never,
      request,
      new Map([['xai', provider]]),
    )
    assert.ok(promptTokensMax >= tokens, `${promptTokensMax} held, ${tokens} reported`)
  })
}
