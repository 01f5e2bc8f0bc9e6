import { composeAnswer } from './compose-answer.ts'
import { deliverBody } from './deliver-body.ts'
import { deliverStream } from './deliver-stream.ts'
import { describeUsage } from './describe-usage.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import type { ProviderRefusal } from './provider-refusals.ts'
import { readChatRequest } from './read-chat-request.ts'
import { createIdentity, renderBody, renderEvents } from './render-answer.ts'
import { findSandboxModel, type SandboxModel } from './sandbox-models.ts'

export interface SandboxChat {
  /** Throws `BadRequest`. Resolves when the answer is on its way or there is nobody to answer. */
  completeChat(exchange: Exchange, text: string): Promise<void>
}

/** A real provider's headers, which a gateway must not pass on. */
const PROVIDER_HEADERS = {
  'openai-organization': 'org-sandbox',
  'openai-processing-ms': '5',
  'openai-version': '2020-10-01',
  'x-request-id': 'req_sandbox_internal',
}

export function createSandboxChat(tokenizer: Promise<Tokenizer>): SandboxChat {
  const callCounts = new Map<string, number>()

  function isRefused(model: SandboxModel): model is SandboxModel & { refusal: ProviderRefusal } {
    if (model.refusal === undefined) return false
    const count = (callCounts.get(model.id) ?? 0) + 1
    callCounts.set(model.id, count)
    return count % model.refusesEvery === 0
  }

  return {
    async completeChat(exchange, text) {
      const request = readChatRequest(text)
      const model = findSandboxModel(request.modelName)
      if (model.delivery === 'hang') return
      if (isRefused(model)) return refuse(exchange, model)

      const answer = composeAnswer(request, model, await tokenizer)
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

async function refuse(
  exchange: Exchange,
  model: SandboxModel & { refusal: ProviderRefusal },
): Promise<void> {
  await exchange.pause(model.pace.firstTokenMs)
  if (!exchange.isOpen) return
  const { status, headers, body } = model.refusal
  exchange.response.writeHead(status, { ...PROVIDER_HEADERS, ...headers }).end(body)
}
