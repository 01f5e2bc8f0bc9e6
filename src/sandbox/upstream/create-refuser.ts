import type { Exchange } from './open-exchange.ts'
import type { ProviderRefusal } from './provider-refusals.ts'
import type { SandboxModel } from './sandbox-models.ts'

/** The headers of a real provider, which a gateway must not forward. */
export const PROVIDER_HEADERS = {
  'openai-organization': 'org-sandbox',
  'openai-processing-ms': '5',
  'openai-version': '2020-10-01',
  'x-request-id': 'req_sandbox_internal',
}

export type RefusingModel = SandboxModel & { readonly refusal: ProviderRefusal }

/** Decides which calls are refused. Each endpoint has its own instance, so that their counts do not mix. */
export interface Refuser {
  /** Counts the call, so it must be invoked once per call. */
  isRefused(model: SandboxModel): model is RefusingModel
}

export function createRefuser(): Refuser {
  const callCounts = new Map<string, number>()
  return {
    isRefused(model): model is RefusingModel {
      if (model.refusal === undefined) return false
      const count = (callCounts.get(model.id) ?? 0) + 1
      callCounts.set(model.id, count)
      return count % model.refusesEvery === 0
    },
  }
}

/** Sends the provider's refusal after the model's time to the first token. */
export async function refuse(exchange: Exchange, model: RefusingModel): Promise<void> {
  await exchange.pause(model.pace.firstTokenMs)
  if (!exchange.isOpen) return
  const { status, headers, body } = model.refusal
  exchange.response.writeHead(status, { ...PROVIDER_HEADERS, ...headers }).end(body)
}
