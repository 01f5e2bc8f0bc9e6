import type { ChatAnswer, Provider, ChatStream, UpstreamFailure } from '../providers/contract.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import type { HeldCall } from './hold-money.ts'
import { refusals, type Refusal } from './refusal.ts'

export interface Called {
  readonly outcome: ChatAnswer | ChatStream | UpstreamFailure
  readonly upstreamId: string
  readonly provider: Provider
}

/** Tries the model's routes in their order until one answers; nothing has gone to the client yet. */
export async function callUpstream(
  deps: GatewayDeps,
  held: HeldCall,
  signal: AbortSignal,
): Promise<Called> {
  let called: Called | undefined
  for (const route of held.model.routes) {
    const provider = deps.providers.get(route.upstreamId)
    if (!provider?.completeChat) continue
    const outcome = await provider.completeChat(
      {
        body: { ...held.request.body, model: route.upstreamModel },
        isStream: held.request.isStream,
        outputTokensMax: held.loweredOutputTokens,
        callId: held.holdId,
      },
      signal,
    )
    called = { outcome, upstreamId: route.upstreamId, provider }
    if (outcome.kind !== 'failure') return called
    deps.observer.upstreamFailed(route.upstreamId, outcome.reason)
    deps.log.warn('upstream_failed', {
      holdId: held.holdId,
      upstreamId: route.upstreamId,
      reason: outcome.reason,
      detail: outcome.detail,
    })
    // Another upstream would refuse the same request, and a call that was ended is not begun again.
    if (outcome.reason === 'refused_request' || outcome.reason === 'aborted') return called
  }
  return called as Called
}

/** What a customer is told when no route answered. */
export function refusalOf(failure: UpstreamFailure): Refusal {
  switch (failure.reason) {
    case 'refused_request':
      return refusals.invalidRequest(
        'O modelo não aceitou esta requisição. Confira os parâmetros, as mensagens e o tamanho do texto.',
      )
    case 'rate_limited':
      return refusals.modelLimited(Math.min(Math.max(failure.retryAfterSeconds ?? 1, 1), 60))
    default:
      return failure.status === 503 ? refusals.modelUnavailable() : refusals.upstreamError()
  }
}
