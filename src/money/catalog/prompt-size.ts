/**
 * Bounds and estimates the tokens of a prompt. Every token has at least one byte, so the bytes of the prompt bound its
 * tokens for any tokenizer, without tokenizing it.
 */
import type { Model } from './model.ts'

export interface PromptFacts {
  /** Bytes of the request as sent to the upstream, without image data. */
  readonly bytes: number
  readonly imageCount: number
  readonly hasFiles: boolean
  /** Tools, or a schema for the answer; some models add instructions for them. */
  readonly hasTools: boolean
}

/** Some models add their own instructions before the tools. */
const TOOL_PREAMBLE_TOKENS = 1_024
/** Tokens that a chat template adds once. For each message it adds fewer tokens than the message's JSON has bytes. */
const TEMPLATE_TOKENS = 64
/** A typical image, for estimates only. */
const IMAGE_TOKENS_TYPICAL = 1_000
const BYTES_PER_TOKEN_TYPICAL = 4

/**
 * Returns a number that is never below the true tokens of the prompt, as long as the catalog's bounds of the model are
 * correct.
 */
export function promptTokensBound(facts: PromptFacts, model: Model): number {
  if (facts.hasFiles) return model.contextTokens
  const bound =
    facts.bytes +
    facts.imageCount * model.imageTokensMax +
    (facts.hasTools ? TOOL_PREAMBLE_TOKENS : 0) +
    (model.hiddenPromptTokensMax ?? 0) +
    TEMPLATE_TOKENS
  return Math.min(bound, model.contextTokens)
}

/**
 * Estimates the tokens of a prompt without a tokenizer. The result is never above `promptTokensBound` for the same
 * facts.
 */
export function promptTokensTypical(facts: PromptFacts, model: Model): number {
  const text = Math.ceil(facts.bytes / BYTES_PER_TOKEN_TYPICAL)
  const images = facts.imageCount * Math.min(model.imageTokensMax, IMAGE_TOKENS_TYPICAL)
  return Math.min(text + images, promptTokensBound(facts, model))
}

/** The bytes of the longest tokens, of spaces, in o200k_base and cl100k_base. */
export const TOKEN_BYTES_MAX = 128

/** Returns the least number of output tokens in this many bytes of text. */
export function outputTokensLeast(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES_MAX)
}

/** Returns the typical number of output tokens in this many bytes of text. */
export function outputTokensTypical(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN_TYPICAL)
}
