/**
 * Gemini signs its thoughts and requires the signatures back. In the chat-completions format they are in
 * `extra_content.google.thought_signature`, as in Google's own endpoint.
 */
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/** Returns fields to spread into a tool call, a message or a delta; empty without a signature. */
export function toExtraContent(metadata: SharedV4ProviderMetadata | undefined): JsonObject {
  const signature = (metadata?.google ?? metadata?.googleVertex)?.thoughtSignature
  return typeof signature === 'string'
    ? { extra_content: { google: { thought_signature: signature } } }
    : {}
}

/** Returns options to spread into a prompt part; empty if the tool call or message has no signature. */
export function readThoughtSignature(carrier: JsonObject): {
  providerOptions?: { google: { thoughtSignature: string } }
} {
  const extra = isObject(carrier.extra_content) ? carrier.extra_content.google : undefined
  const signature = isObject(extra) ? extra.thought_signature : undefined
  return typeof signature === 'string'
    ? { providerOptions: { google: { thoughtSignature: signature } } }
    : {}
}
