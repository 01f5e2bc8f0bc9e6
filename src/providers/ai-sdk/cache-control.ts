import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/**
 * `cache_control` of a content part or a tool, to spread into what is made of it. Only the ordinary
 * lifetime is passed on: a longer one costs more to write than the catalog knows.
 */
export function readCacheControl(carrier: JsonObject): {
  providerOptions?: SharedV4ProviderOptions
} {
  if (!isObject(carrier.cache_control) || carrier.cache_control.type !== 'ephemeral') return {}
  return {
    providerOptions: {
      anthropic: { cacheControl: { type: 'ephemeral' } },
      amazonBedrock: { cachePoint: { type: 'default' } },
    },
  }
}
