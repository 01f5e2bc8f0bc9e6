/**
 * How many tokens a prompt can be at most, and about how many it is. Every token is at least one byte
 * of the prompt, so its bytes bound its tokens for any tokenizer, without reading it.
 */
import type { Model } from './model.ts'

export interface PromptFacts {
  /** Bytes of the request as the upstream gets it, without the data of images. */
  readonly bytes: number
  readonly imageCount: number
  readonly hasFiles: boolean
  /** Tools, or a schema for the answer: some models get instructions for them. */
  readonly hasTools: boolean
}

/** Some models put instructions of their own before the tools. */
const TOOL_PREAMBLE_TOKENS = 1_024
/** What a chat template adds around all messages; around each one it adds less than its JSON has bytes. */
const TEMPLATE_TOKENS = 64
/** A typical image, for estimates only. */
const IMAGE_TOKENS_TYPICAL = 1_000
const BYTES_PER_TOKEN_TYPICAL = 4

/** Never less than the prompt has, as long as the catalog's bounds of the model hold. */
export function promptTokensBound(facts: PromptFacts, model: Model): number {
  if (facts.hasFiles) return model.contextTokens
  const bound =
    facts.bytes +
    facts.imageCount * model.imageTokensMax +
    (facts.hasTools ? TOOL_PREAMBLE_TOKENS : 0) +
    TEMPLATE_TOKENS
  return Math.min(bound, model.contextTokens)
}

/** A fair guess without a tokenizer, never above the bound of the same facts. */
export function promptTokensTypical(facts: PromptFacts, model: Model): number {
  const text = Math.ceil(facts.bytes / BYTES_PER_TOKEN_TYPICAL)
  const images = facts.imageCount * Math.min(model.imageTokensMax, IMAGE_TOKENS_TYPICAL)
  return Math.min(text + images, promptTokensBound(facts, model))
}

/** Output tokens of so many bytes of text, typically. */
export function outputTokensTypical(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN_TYPICAL)
}
