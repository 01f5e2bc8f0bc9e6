import { hash } from 'node:crypto'
import { isObject } from '../lib/is-object.ts'
import type { JsonObject } from '../providers/contract.ts'

/** The fields in which a client names its own users and caches; Messages has `metadata.user_id`. */
const IDENTIFIERS = ['user', 'safety_identifier', 'prompt_cache_key'] as const

/**
 * The body with digests for the identifiers that only its customer gives out. All customers share the operator's account
 * at a provider, which refuses users and keeps caches by them: equal values of two customers must differ there. Nor does
 * the provider learn an e-mail address that a client wrote there. A digest has 43 characters; providers take 64.
 */
export function withOwnIdentifiers(body: JsonObject, customerId: string): JsonObject {
  const own = (value: string): string => hash('sha256', `${customerId} ${value}`, 'base64url')
  const changed: JsonObject = {}
  for (const name of IDENTIFIERS) {
    const value = body[name]
    if (typeof value === 'string') changed[name] = own(value)
  }
  const { metadata } = body
  if (isObject(metadata) && typeof metadata.user_id === 'string')
    changed.metadata = { ...metadata, user_id: own(metadata.user_id) }
  return Object.keys(changed).length > 0 ? { ...body, ...changed } : body
}
