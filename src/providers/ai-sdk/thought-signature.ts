/**
 * Gemini signs its thoughts and wants the signatures back. Over the chat-completions format they go
 * where Google's own endpoint puts them: `extra_content.google.thought_signature`.
 */
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/** To spread into a tool call, a message or a delta; empty where there is no signature. */
export function toExtraContent(metadata: SharedV4ProviderMetadata | undefined): JsonObject {
  const signature = (metadata?.google ?? metadata?.googleVertex)?.thoughtSignature
  return typeof signature === 'string'
    ? { extra_content: { google: { thought_signature: signature } } }
    : {}
}

/** To spread into a part of a prompt; empty where the tool call or the message carries no signature. */
export function readThoughtSignature(carrier: JsonObject): {
  providerOptions?: { google: { thoughtSignature: string } }
} {
  const extra = isObject(carrier.extra_content) ? carrier.extra_content.google : undefined
  const signature = isObject(extra) ? extra.thought_signature : undefined
  return typeof signature === 'string'
    ? { providerOptions: { google: { thoughtSignature: signature } } }
    : {}
}
