import { composeAnswer } from './compose-answer.ts'
import { createRefuser, refuse } from './create-refuser.ts'
import { deliverBody } from './deliver-body.ts'
import { deliverStream } from './deliver-stream.ts'
import { describeUsage } from './describe-usage.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { PROVIDER_HEADERS } from './provider-headers.ts'
import type { ChatRequest } from './read-chat-request.ts'
import { findSandboxModel } from './sandbox-models.ts'
import type { SandboxFormat } from './sandbox-format.ts'

export interface SandboxChat {
  /** Throws `BadRequest`. Resolves when the answer is written or the client has left. */
  completeChat(exchange: Exchange, text: string): Promise<void>
}

export function createSandboxChat<Request extends ChatRequest>(
  format: SandboxFormat<Request>,
  openTokenizer: () => Promise<Tokenizer>,
): SandboxChat {
  const refuser = createRefuser()

  return {
    async completeChat(exchange, text) {
      const request = format.read(text)
      const model = findSandboxModel(request.modelName)
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)

      const tokenizer = await openTokenizer()
      const answer = composeAnswer(request, model, tokenizer)
      const usage = describeUsage(answer, request, model)
      const rendered = { request, answer, usage, tokenizer }
      const { pace, delivery } = model
      if (usage !== undefined && format.reportsUsage(request)) {
        exchange.reported = {
          promptTokens: usage.prompt_tokens,
          completionTokens: usage.completion_tokens,
          webSearches: request.searches.length,
        }
      }
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      if (request.isStream) {
        const events = format.renderEvents(rendered)
        return deliverStream({ ...common, events, ending: format.ending })
      }
      const body = format.renderBody(rendered)
      return deliverBody({ ...common, body, tokens: answer.completionTokens })
    },
  }
}
