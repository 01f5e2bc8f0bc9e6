import type { Model } from '../catalog/model.ts'
import type { ActiveKey } from '../customers/key-cache.ts'
import { readChatRequest, type ChatRequest } from './chat-request.ts'
import type { IncomingCall } from './client.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import { refusals, type Refusal } from './refusal.ts'

export interface Admitted {
  readonly kind: 'admitted'
  readonly key: ActiveKey
  readonly model: Model
  readonly request: ChatRequest
}

/** A refusal, and the key where one was recognised: its limits are shown, and the call counts on it. */
export interface NotAdmitted {
  readonly kind: 'not_admitted'
  readonly refused: Refusal
  readonly key: ActiveKey | undefined
}

const SESSION_ID = /^[\x21-\x7e]{1,80}$/

/** Who calls, from where, and for what: everything that can be refused without asking for money. */
export async function admit(
  deps: GatewayDeps,
  incoming: IncomingCall,
): Promise<Admitted | NotAdmitted> {
  const secret = bearerOf(incoming.authorization)
  let key: ActiveKey | undefined
  try {
    key = secret === undefined ? undefined : await deps.keys.find(secret)
  } catch (error) {
    deps.log.error('key_lookup_failed', { requestId: incoming.requestId, error })
    return refuse(refusals.serviceUnavailable())
  }
  if (!key) return refuse(refusals.authenticationFailed())
  if (key.ipMatcher && !key.ipMatcher.matches(incoming.ip)) return refuse(refusals.ipBlocked(), key)
  if (incoming.sessionId !== undefined && !SESSION_ID.test(incoming.sessionId)) {
    return refuse(
      refusals.invalidRequest('O cabeçalho x-svc-session-id deve ter até 80 caracteres visíveis.'),
      key,
    )
  }

  const request = readChatRequest(incoming.body)
  if ('kind' in request) return refuse(request, key)
  const model = deps.catalog.findModel(request.modelId)
  if (!model) return refuse(refusals.modelNotFound(request.modelId), key)
  if (key.modelIdSet && !key.modelIdSet.has(model.id))
    return refuse(refusals.modelAccessDenied(model.id), key)
  const fault = findModelFault(model, request)
  if (fault !== undefined) return refuse(refusals.invalidRequest(fault), key)
  if (!model.routes.some((route) => deps.providers.has(route.upstreamId))) {
    return refuse(refusals.modelUnavailable(), key)
  }
  return { kind: 'admitted', key, model, request }
}

/** The key of `Authorization: Bearer <key>`; the scheme's case does not matter. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S{1,200}) *$/i.exec(authorization ?? '')?.[1]
}

function findModelFault(model: Model, request: ChatRequest): string | undefined {
  if (model.category !== 'llm')
    return `O modelo "${model.id}" não é de chat; use o endereço da categoria dele.`
  if (request.outputTokensMax !== undefined && request.outputTokensMax > model.outputTokensMax) {
    return `max_tokens passa do limite do modelo "${model.id}", que é ${model.outputTokensMax}.`
  }
  if (request.hasTools && !model.supportsTools) return `O modelo "${model.id}" não aceita "tools".`
  if (request.imageCount > 0 && model.imageTokensMax === 0)
    return `O modelo "${model.id}" não aceita imagens.`
  return undefined
}

function refuse(refused: Refusal, key?: ActiveKey): NotAdmitted {
  return { kind: 'not_admitted', refused, key }
}
