import { hash } from 'node:crypto'
import { isObject } from '../../platform/lib/is-object.ts'
import type { JsonObject } from '../providers/contract.ts'
import type { CallRequest } from './call.ts'

/** The fields in which a client names its own users and caches; Messages has `metadata.user_id`. */
const IDENTIFIERS = ['user', 'safety_identifier', 'prompt_cache_key'] as const

interface Named {
  readonly body?: JsonObject
  readonly native?: { readonly body: JsonObject } | undefined
}

/**
 * Returns the same request with digests for the identifiers that only its customer gives out. All customers share the
 * operator's account at a provider, which refuses users and keeps caches by them: equal values of two customers must
 * differ there. Nor does the provider learn an e-mail address that a client wrote there. A digest has 43 characters;
 * providers take 64. It comes behind the shield, which reads what the client wrote, and before anything is measured.
 */
export function nameEndUsers<Request extends CallRequest & Named>(
  request: Request,
  customerId: string,
): Request {
  const { body, native } = request
  const named = body && withDigests(body, customerId)
  const nativeNamed = native && withDigests(native.body, customerId)
  if (named === body && nativeNamed === native?.body) return request
  return {
    ...request,
    ...(named ? { body: named } : {}),
    ...(native ? { native: { ...native, body: nativeNamed } } : {}),
  }
}

/** The same body if it names nobody. */
function withDigests(body: JsonObject, customerId: string): JsonObject {
  const digest = (value: string): string => hash('sha256', `${customerId} ${value}`, 'base64url')
  let named = body
  for (const name of IDENTIFIERS) {
    const value = body[name]
    if (typeof value === 'string') named = { ...named, [name]: digest(value) }
  }
  const { metadata } = body
  if (isObject(metadata) && typeof metadata.user_id === 'string')
    named = { ...named, metadata: { ...metadata, user_id: digest(metadata.user_id) } }
  return named
}
