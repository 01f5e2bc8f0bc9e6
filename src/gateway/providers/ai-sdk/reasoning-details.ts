/**
 * Claude signs its thinking, redacts parts of it, and requires both back with tool results. In the chat-completions
 * format they are in `reasoning_details`, as in other gateways.
 */
import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/** Returns a complete block of thinking as the client gets it; undefined if the upstream does not require it back. */
export function toReasoningDetail(
  text: string,
  metadata: SharedV4ProviderMetadata | undefined,
  index: number,
): JsonObject | undefined {
  const own = metadata?.anthropic ?? metadata?.amazonBedrock
  if (typeof own?.signature === 'string') {
    return { type: 'reasoning.text', text, signature: own.signature, index }
  }
  const data = own?.redactedData ?? own?.redactedContent
  return typeof data === 'string' ? { type: 'reasoning.encrypted', data, index } : undefined
}

/**
 * Returns the blocks of thinking of an earlier turn. Clients that collected a stream may send a block as several texts,
 * of which only the last is signed.
 */
export function readReasoningDetails(details: unknown): LanguageModelV4ReasoningPart[] {
  const parts: LanguageModelV4ReasoningPart[] = []
  let text = ''
  for (const detail of Array.isArray(details) ? (details as unknown[]) : []) {
    if (!isObject(detail)) continue
    if (detail.type === 'reasoning.encrypted' && typeof detail.data === 'string') {
      parts.push({ type: 'reasoning', text: '', providerOptions: redacted(detail.data) })
    }
    if (detail.type !== 'reasoning.text') continue
    if (typeof detail.text === 'string') text += detail.text
    if (typeof detail.signature !== 'string') continue
    const { signature } = detail
    const providerOptions = { anthropic: { signature }, amazonBedrock: { signature } }
    parts.push({ type: 'reasoning', text, providerOptions })
    text = ''
  }
  if (text !== '') parts.push({ type: 'reasoning', text })
  return parts
}

function redacted(data: string): NonNullable<LanguageModelV4ReasoningPart['providerOptions']> {
  return { anthropic: { redactedData: data }, amazonBedrock: { redactedContent: data } }
}

/**
 * Gemini signs its thoughts and requires the signatures back. In the chat-completions format they are in
 * `extra_content.google.thought_signature`, as in Google's own endpoint.
 */

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
