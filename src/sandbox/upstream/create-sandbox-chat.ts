import { composeAnswer } from './compose-answer.ts'
import { createRefuser, refuse } from './create-refuser.ts'
import { deliverBody } from './deliver-body.ts'
import { deliverStream } from './deliver-stream.ts'
import { describeUsage } from './describe-usage.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { PROVIDER_HEADERS } from './provider-headers.ts'
import { readChatRequest } from './read-chat-request.ts'
import { createIdentity, renderBody, renderEvents } from './render-answer.ts'
import { findSandboxModel } from './sandbox-models.ts'

export interface SandboxChat {
  /** Throws `BadRequest`. Resolves when the answer is written or the client has left. */
  completeChat(exchange: Exchange, text: string): Promise<void>
}

export function createSandboxChat(openTokenizer: () => Promise<Tokenizer>): SandboxChat {
  const refuser = createRefuser()

  return {
    async completeChat(exchange, text) {
      const request = readChatRequest(text)
      const model = findSandboxModel(request.modelName)
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)

      const answer = composeAnswer(request, model, await openTokenizer())
      const usage = describeUsage(answer, request, model)
      const identity = createIdentity(request.modelName)
      const { pace, delivery } = model
      if (usage !== undefined && (!request.isStream || request.includesUsage)) {
        exchange.reported = {
          promptTokens: usage.prompt_tokens,
          completionTokens: usage.completion_tokens,
        }
      }
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      if (request.isStream) {
        const events = renderEvents(identity, answer, usage, request.includesUsage)
        return deliverStream({ ...common, events })
      }
      const body = renderBody(identity, answer, usage)
      return deliverBody({ ...common, body, tokens: answer.completionTokens })
    },
  }
}
