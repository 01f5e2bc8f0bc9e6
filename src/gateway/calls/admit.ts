import { nearestModels } from '../../money/catalog/nearest-models.ts'
import type { Model, Route, RouteOrder } from '../../money/catalog/model.ts'
import { CACHE_SECONDS_MAX } from '../../customers/cached-answers.ts'
import type { ActiveKey } from '../../customers/key-cache.ts'
import { isSameShield } from '../../customers/shield-setting.ts'
import { parseBrl, type NanoBrl } from '../../platform/lib/money.ts'
import type { CallKind } from './call-kind.ts'
import type { CacheChoice, CallRequest, NotAdmitted } from './call.ts'
import type { IncomingCall } from './client.ts'
import type { GatewayParts } from './gateway-parts.ts'
import type { IncomingCaller } from './refuse-call.ts'
import { refusals, type Refusal } from './refusal.ts'
import { chooseRoutes, type RoutedCall } from './routing/choose-routes.ts'
import { ANY_ROUTE, splitVariant } from './routing/route-choice.ts'

const REFRESHED_SECONDS = 3_600
const SESSION_ID = /^[\x21-\x7e]{1,80}$/

export interface Caller {
  readonly key: ActiveKey
  /** The most that the call may cost by its own header; undefined: no such limit. */
  readonly maxCostNanoBrl: NanoBrl | undefined
  readonly cache: CacheChoice | undefined
}

/** Checks the key, the address and the headers of a call: everything that can be refused before its body is read. */
export async function admit(
  deps: GatewayParts,
  incoming: IncomingCall<unknown>,
): Promise<Caller | NotAdmitted> {
  const key = incoming.key ?? (await identify(deps, incoming))
  if ('refused' in key) return key
  if (incoming.sessionId !== undefined && !SESSION_ID.test(incoming.sessionId)) {
    return refuse(
      refusals.invalidRequest('O cabeçalho x-svc-session-id deve ter até 80 caracteres visíveis.'),
      key,
    )
  }

  const maxCostNanoBrl =
    incoming.maxCostBrl === undefined ? undefined : parseBrl(incoming.maxCostBrl)
  if (incoming.maxCostBrl !== undefined && !maxCostNanoBrl) {
    return refuse(
      refusals.invalidRequest(
        'O cabeçalho x-svc-max-cost-brl deve ser um valor em reais maior que zero, com ponto decimal, como 0.50.',
      ),
      key,
    )
  }
  const cache = readCache(incoming.cache, key)
  if (cache === 'invalid') {
    return refuse(
      refusals.invalidRequest(
        `O cabeçalho x-svc-cache deve ser off, refresh ou um número inteiro de segundos, de 1 a ${CACHE_SECONDS_MAX}.`,
      ),
      key,
    )
  }
  return { key, maxCostNanoBrl, cache }
}

/** `refresh` keeps the answer as long as the key says, or for an hour. */
function readCache(
  asked: string | undefined,
  { cacheSeconds }: ActiveKey,
): CacheChoice | undefined | 'invalid' {
  if (asked === undefined || asked === '')
    return cacheSeconds === null ? undefined : { seconds: cacheSeconds, isRefreshed: false }
  if (asked === 'off') return undefined
  if (asked === 'refresh') return { seconds: cacheSeconds ?? REFRESHED_SECONDS, isRefreshed: true }
  const seconds = /^[0-9]{1,6}$/.test(asked) ? Number(asked) : 0
  return seconds >= 1 && seconds <= CACHE_SECONDS_MAX ? { seconds, isRefreshed: false } : 'invalid'
}

/** Finds the key of a call, and checks its address list and that neither it, its account nor the service is stopped. */
export async function identify(
  deps: GatewayParts,
  incoming: IncomingCaller,
): Promise<ActiveKey | NotAdmitted> {
  let key: ActiveKey | undefined
  try {
    key = await findKey(deps, incoming)
  } catch (error) {
    deps.log.error('key_lookup_failed', { requestId: incoming.requestId, error })
    return refuse(refusals.serviceUnavailable())
  }
  if (key) return judge(deps, key, incoming)
  return refuse(hasKey(incoming) ? refusals.authenticationFailed() : refusals.keyMissing())
}

/**
 * Does what `identify` does, without waiting. Returns undefined if the key is not in the cache, or is found by other
 * means.
 */
export function identifyCached(
  deps: GatewayParts,
  incoming: IncomingCaller,
): ActiveKey | NotAdmitted | undefined {
  if (incoming.findKey) return undefined
  const secret = bearerOf(incoming.authorization)
  const key = secret === undefined ? undefined : deps.keys.findCached(secret)
  return key && judge(deps, key, incoming)
}

function judge(
  deps: Pick<GatewayParts, 'catalog'>,
  key: ActiveKey,
  incoming: IncomingCaller,
): ActiveKey | NotAdmitted {
  if (incoming.facts) incoming.facts.keyId = key.id
  if (key.ipMatcher && !key.ipMatcher.matches(incoming.ip)) return refuse(refusals.ipBlocked(), key)
  if (key.pausedReason) return refuse(refusals.keyPaused(key.pausedReason), key)
  if (key.scope === 'operator') return refuse(refusals.keyOfOperator(), key)
  if (key.isAccountSuspended) return refuse(refusals.accountSuspended(), key)
  if (deps.catalog.isPaused()) return refuse(refusals.servicePaused(), key)
  return key
}

function hasKey({ authorization, findKey }: IncomingCaller): boolean {
  return findKey !== undefined || authorization !== undefined
}

function findKey(
  { keys }: GatewayParts,
  { authorization, findKey }: IncomingCaller,
): Promise<ActiveKey | undefined> | undefined {
  if (findKey) return findKey()
  const secret = bearerOf(authorization)
  return secret === undefined ? undefined : keys.find(secret)
}

export function mayUse(key: ActiveKey, model: Model): boolean {
  return !key.modelIdSet || key.modelIdSet.has(model.id)
}

/** Whether a request that was read under one version of a key would be the same under another one. */
export function isReadAlike(before: ActiveKey, after: ActiveKey): boolean {
  return (
    isSameShield(before.shield, after.shield) &&
    before.scope === after.scope &&
    before.autoCache === after.autoCache
  )
}

/** Returns the key in `Authorization: Bearer <key>`; the scheme is case-insensitive. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S{1,200}) *$/i.exec(authorization ?? '')?.[1]
}

/** Finds a model by a name of clients, with what `:floor` or `:nitro` behind the name sorts its routes by. */
export function findAsked(
  { catalog }: Pick<GatewayParts, 'catalog'>,
  asked: string,
): { model: Model | undefined; sort?: RouteOrder | undefined } {
  const model = catalog.findNamed(asked)
  if (model) return { model }
  const { name, sort } = splitVariant(asked)
  return sort ? { model: catalog.findNamed(name), sort } : { model }
}

/**
 * Returns the models that may answer, with no other routes than those that the caller lets answer. Fallbacks are checked
 * as well, so that none of them fails when it is needed.
 */
export function findModels<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  deps: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  key: ActiveKey,
  request: Request,
  call: Pick<RoutedCall, 'conversationOf' | 'spanOf'>,
): readonly [Model, ...Model[]] | Refusal {
  const models: Model[] = []
  let excluded: Model | undefined
  const { choice, modelId, fallbackModelIds } = request
  const ids = choice?.allowsFallbacks === false ? [modelId] : [modelId, ...fallbackModelIds]
  for (const id of ids) {
    const { model, sort } = findAsked(deps, id)
    if (!model) {
      const usable = deps.catalog.listModels().filter((known) => mayUse(key, known))
      return refusals.modelNotFound(
        id,
        nearestModels(
          id,
          usable.map((known) => known.id),
        ),
      )
    }
    if (!mayUse(key, model)) return refusals.modelAccessDenied(model.id)
    const fault = kind.findFault(model, request)
    if (fault !== undefined) return refusals.invalidRequest(fault)
    const isServed = ({ upstreamId }: Route): boolean => {
      const provider = deps.providers.get(upstreamId)
      return provider !== undefined && kind.can(provider)
    }
    if (!model.routes.some(isServed)) continue
    const wish = sort ? { ...(choice ?? ANY_ROUTE), sort } : choice
    if (!wish) {
      models.push(model)
      continue
    }
    const served = { ...model, routes: model.routes.filter(isServed) }
    const chosen = chooseRoutes(deps, served, wish, { ...call, customerId: key.customerId })
    if (chosen) models.push(chosen)
    else excluded ??= model
  }
  if (isNotEmpty(models)) return models
  return excluded ? refusals.noRouteForProvider(excluded.id) : refusals.modelNotServed()
}

function isNotEmpty(models: Model[]): models is [Model, ...Model[]] {
  return models.length > 0
}

export function refuse(refused: Refusal, key?: ActiveKey): NotAdmitted {
  return { kind: 'not_admitted', refused, key }
}
