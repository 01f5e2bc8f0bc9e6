import type { UpstreamFailure } from './contract.ts'

/** The words of providers for a prompt that exceeds the context of a model. */
const CONTEXT_TOO_LONG = new RegExp(
  [
    // OpenAI, Azure, Groq, DeepSeek, vLLM, xAI.
    'context_length_exceeded',
    'maximum (?:context|prompt) length',
    // Anthropic, Bedrock, Vertex.
    'prompt is too long',
    'input is too long',
    'exceeds? (?:the )?context (?:limit|window)',
    // Google.
    'input token count',
    // Mistral, Cohere.
    'too large for model with',
    'too many tokens',
  ].join('|'),
  'i',
)

/** The codes of providers for content that their rules forbid; as values, because texts may quote a prompt. */
const CONTENT_REFUSED = new RegExp(
  [
    '"(?:content_policy_violation|content_filter|moderation_blocked|ResponsibleAIPolicyViolation|PROHIBITED_CONTENT|BLOCKLIST|SAFETY|IMAGE_SAFETY)"',
    // OpenAI, Responses.
    '"(?:bio_policy|image_content_policy_violation)"',
    // OpenRouter, as the name of a field.
    '"flagged_input"',
    // xAI, at the beginning of its text.
    '(?<!\\\\)"Content violates usage guidelines',
  ].join('|'),
)

/**
 * Why an upstream refused a request, where clients act on it: they shorten the conversation, or show the user that the
 * content is not allowed. A wrong guess changes the words of a refusal, and whether a 403 is about our key.
 */
export function findRequestFault(body: string): UpstreamFailure['requestFault'] {
  if (CONTENT_REFUSED.test(body)) return 'content_refused'
  return CONTEXT_TOO_LONG.test(body) ? 'context_too_long' : undefined
}
