import { hash } from 'node:crypto'
import { isObject } from '../../platform/lib/is-object.ts'
import type { JsonObject } from '../providers/contract.ts'
import type { CallKind } from './call-kind.ts'
import type { CallRequest } from './call.ts'
import { isRefusal, type Refusal } from './refusal.ts'

/** The fields in which a client names its own users and caches; Messages has `metadata.user_id`. */
const IDENTIFIERS = ['user', 'safety_identifier', 'prompt_cache_key'] as const

interface Named {
  readonly body?: JsonObject
  readonly native?: { readonly body: JsonObject } | undefined
}

/**
 * A kind of call whose requests have digests for the identifiers that only their customer gives out. All customers share
 * the operator's account at a provider, which refuses users and keeps caches by them: equal values of two customers must
 * differ there. Nor does the provider learn an e-mail address that a client wrote there. A digest has 43 characters;
 * providers take 64. It comes behind the shield, which reads what the client wrote, and before anything is measured.
 */
export function ownIdentifiersKind<
  Body,
  Request extends CallRequest & Named,
  Outcome extends { kind: string },
>(kind: CallKind<Body, Request, Outcome>): CallKind<Body, Request, Outcome> {
  return {
    ...kind,
    read(body, key, flags) {
      const read = kind.read(body, key, flags)
      return read instanceof Promise
        ? read.then((request) => nameAgain(request, key.customerId))
        : nameAgain(read, key.customerId)
    },
  }
}

/** In place: the kinds within know the request by its identity. */
function nameAgain<Request extends Named>(
  request: Request | Refusal,
  customerId: string,
): Request | Refusal {
  if (isRefusal(request)) return request
  for (const body of [request.body, request.native?.body]) if (body) replaceIn(body, customerId)
  return request
}

function replaceIn(body: JsonObject, customerId: string): void {
  const own = (value: string): string => hash('sha256', `${customerId} ${value}`, 'base64url')
  for (const name of IDENTIFIERS) {
    const value = body[name]
    if (typeof value === 'string') body[name] = own(value)
  }
  const { metadata } = body
  if (isObject(metadata) && typeof metadata.user_id === 'string')
    body.metadata = { ...metadata, user_id: own(metadata.user_id) }
}
