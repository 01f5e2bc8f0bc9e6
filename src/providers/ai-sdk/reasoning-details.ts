/**
 * Claude signs its thinking, hides parts of it, and wants both back with the results of its tools. Over
 * the chat-completions format they go into `reasoning_details`, as other gateways do.
 */
import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/** One block of thinking, whole; undefined where the upstream does not want it back. */
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
 * The blocks of thinking of an earlier turn. Clients that collected a stream may hold a block as many
 * texts of which the last is signed.
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
