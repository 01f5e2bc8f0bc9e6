import type { Client, IncomingCall } from '../client.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { countRequest, refuseAndCount, refuseCall } from '../refuse-call.ts'
import { boundCall } from '../read-request.ts'
import { readAdmitted } from '../serve-call.ts'
import type { ChatKind } from './chat-kind.ts'
import type { ChatRequest } from './chat-request.ts'

/**
 * Answers with an estimate of a prompt's tokens. Nothing is sent to an upstream, held or charged; the request counts
 * against the rate limits.
 */
export function createServeTokenCount<Request extends ChatRequest>(
  deps: GatewayParts,
  kind: ChatKind<Request>,
  answerOf: (tokens: number, request: Request, requestId: string) => object,
) {
  return async function serveTokenCount(incoming: IncomingCall, client: Client): Promise<void> {
    const admitted = await readAdmitted(deps, kind, incoming)
    if (admitted.kind === 'not_admitted') return refuseAndCount(deps, incoming, client, admitted)
    const { key, models, request } = admitted
    try {
      const { limits, reached } = await countRequest(deps, incoming.ip, key)
      const asked = { modelId: models[0].id, isStream: false }
      if (reached)
        return refuseCall(deps, incoming, client, { refused: reached, key, asked }, limits)
      const bounds = await boundCall(deps, kind, admitted, models[0], key.customerId)
      const answer = answerOf(bounds.promptTokensEstimated, request, incoming.requestId)
      client.answer(JSON.stringify(answer), limits)
    } finally {
      kind.dispose?.(request)
    }
  }
}
