import type { ActiveKey } from '../../customers/key-cache.ts'
import type { Model } from '../../money/catalog/model.ts'
import type { CallBounds, CallKind } from './call-kind.ts'
import type { CallRequest } from './call.ts'
import type { IncomingCall } from './client.ts'
import { isAbsent } from './field-faults.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { TIMED_FROM_BYTES, TOO_MANY_WAIT } from '../../platform/admission/own-time.ts'
import { isRefusal, refusals, type Refusal } from './refusal.ts'
import { BODY_BOUNDS, findJsonExcess, isDeeperThan } from '../../platform/lib/bound-json.ts'
import { parseExactly } from '../../platform/lib/exact-json.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import type { JsonObject } from '../providers/contract.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Each level takes at least two bytes. */
const DEPTH_MAX = BODY_BOUNDS.depthMax
/** A smaller body cannot contain enough values to matter; its depth is checked after parsing. */
const BOUNDED_FROM_BYTES = 16 * 1024

/** Parses the JSON object of a request body. */
export function readJsonBody(raw: Buffer): JsonObject | Refusal {
  const excess = raw.length > BOUNDED_FROM_BYTES ? findJsonExcess(raw, BODY_BOUNDS) : undefined
  if (excess === 'size') return TOO_MANY_VALUES
  if (excess === 'depth') return TOO_DEEP
  const body = parseObject(raw)
  if (!body)
    return refusals.invalidRequest('O corpo da requisição não é um objeto JSON válido em UTF-8.')
  const isSmall = raw.length > 2 * DEPTH_MAX && raw.length <= BOUNDED_FROM_BYTES
  if (isSmall && isDeeperThan(body, DEPTH_MAX)) return TOO_DEEP
  // Without a model, the first of the list is the one, as with other routers.
  if (isAbsent(body.model) && Array.isArray(body.models)) body.model = body.models[0]
  return body
}

const TOO_DEEP = refusals.invalidRequest(
  `O corpo da requisição passa de ${DEPTH_MAX} níveis de objetos e listas.`,
)
export const TOO_MANY_VALUES = refusals.invalidRequest(
  'O corpo da requisição tem valores demais: até 100 mil objetos, listas e campos, e até 500 mil itens de listas.',
)

function parseObject(raw: Buffer): JsonObject | undefined {
  try {
    const value = parseExactly(utf8.decode(raw))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The measured time of a count: a megabyte of text takes about a second. */
const COUNT_MS_PER_BYTE = 1e-3
/** Shorter prompts are counted as they come. */
const COUNTED_AT_ONCE_BYTES = 100_000

export interface ReadRequest<Request> {
  readonly request: Request
  /** Whether the work on it is taken from the customer's own time: that on a small body is less than what is free. */
  readonly isTimed: boolean
}

/**
 * Reads the body of a call. A large body waits until the earlier ones of its customer have been paid for: the time in
 * which a body is read and measured, whatever it contains, and also if its call is refused.
 */
export async function readRequest<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(
  { ownTime }: Pick<GatewayParts, 'ownTime'>,
  kind: Pick<CallKind<Body, Request, Outcome>, 'read'>,
  { body, flags }: Pick<IncomingCall<Body>, 'body' | 'flags'>,
  key: ActiveKey,
): Promise<ReadRequest<Request> | Refusal> {
  const isLarge = Buffer.isBuffer(body) && body.length > TIMED_FROM_BYTES
  const read = isLarge
    ? ownTime.takeInTurn(key.customerId, () => kind.read(body, key, flags))
    : kind.read(body, key, flags)
  const request = await read
  if (request === TOO_MANY_WAIT) return refusals.tooManyCalls(ownTime.waitingMax)
  // A small body may continue a long conversation, which is read from the database.
  return isRefusal(request) ? request : { request, isTimed: isLarge || read instanceof Promise }
}

/** Computes the most that a call can use: from the customer's own time, if its request is timed. */
export function boundCall<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  deps: Pick<GatewayParts, 'ownTime' | 'providers'>,
  kind: Pick<CallKind<Body, Request, Outcome>, 'bound'>,
  { request, isTimed }: ReadRequest<Request>,
  model: Model,
  customerId: string,
): CallBounds | Promise<CallBounds> {
  const bound = () => kind.bound(model, request, deps.providers)
  if (!isTimed) return bound()
  const bounds = deps.ownTime.take(customerId, bound)
  return bounds instanceof Promise
    ? bounds.then((each) => countInTurn(deps, each, customerId))
    : countInTurn(deps, bounds, customerId)
}

/** The count of a long prompt is the customer's own time, too, and only one of them is under way. */
function countInTurn(
  deps: Pick<GatewayParts, 'ownTime'>,
  bounds: CallBounds,
  customerId: string,
): CallBounds {
  const { countPrompt, lean, promptTokensMax: bytes } = bounds
  const paced = lean ? { ...bounds, lean: countInTurn(deps, lean, customerId) } : bounds
  if (!countPrompt || bytes <= COUNTED_AT_ONCE_BYTES) return paced
  return {
    ...paced,
    async countPrompt() {
      let counted: number | undefined
      await deps.ownTime.takeOnlySlices(customerId, async () => {
        counted = await countPrompt()
        return bytes * COUNT_MS_PER_BYTE
      })
      return counted
    },
  }
}
