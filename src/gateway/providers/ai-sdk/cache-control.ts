import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/**
 * The `cache_control` of a content part or a tool, as options to spread into the converted part or tool. A lifetime of
 * one hour costs more to write; the gateway passes it only if the model has a price for it.
 */
export function readCacheControl(carrier: JsonObject): {
  providerOptions?: SharedV4ProviderOptions
} {
  if (!isObject(carrier.cache_control) || carrier.cache_control.type !== 'ephemeral') return {}
  const life = carrier.cache_control.ttl === '1h' ? { ttl: '1h' as const } : {}
  return {
    providerOptions: {
      anthropic: { cacheControl: { type: 'ephemeral', ...life } },
      amazonBedrock: { cachePoint: { type: 'default', ...life } },
    },
  }
}
