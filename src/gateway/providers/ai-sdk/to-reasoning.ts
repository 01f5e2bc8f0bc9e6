/**
 * Limits the reasoning of a model. Upstreams with a token budget add it to the output limit, or do not count it against
 * that limit. Here the budget is a share of the limit, so that output and reasoning together stay within it.
 */
import { getGoogleLanguageModelEntry } from '@ai-sdk/google/internal'
import type { JSONObject, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { type AiSdkOptions, claudeCapabilities } from './ai-sdk-options.ts'
import { RefusedRequest } from './to-failure.ts'

export interface ReasoningOptions {
  readonly maxOutputTokens?: number
  readonly reasoning?: NonNullable<LanguageModelV4CallOptions['reasoning']>
  /** Merged with the other options for this provider. */
  readonly providerOptions?: { readonly name: string; readonly options: JSONObject }
}

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

const SHARE_OF_OUTPUT: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.05,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.8,
}
/** Claude's minimum budget. */
const CLAUDE_BUDGET_MIN = 1024

/** Throws a `RefusedRequest` for an unknown effort. */
export function toReasoning(
  kind: AiSdkOptions['kind'],
  modelId: string,
  effort: unknown,
  outputTokensMax: number | undefined,
): ReasoningOptions {
  const limit = outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }
  if (effort === undefined || effort === null) return limit
  const asked = effort === 'max' ? 'xhigh' : effort
  if (!isEffort(asked)) throw new RefusedRequest('an unknown reasoning_effort')
  switch (kind) {
    case 'anthropic':
      return forClaude(modelId, asked, outputTokensMax, (budgetTokens) => ({
        name: 'anthropic',
        options: { thinking: { type: 'enabled', budgetTokens } },
      }))
    case 'amazon-bedrock':
      if (modelId.includes('anthropic.')) {
        return forClaude(modelId, asked, outputTokensMax, (budgetTokens) => ({
          name: 'amazonBedrock',
          options: { reasoningConfig: { type: 'enabled', budgetTokens } },
        }))
      }
      // With a higher effort, Nova ignores the output limit.
      if (modelId.includes('amazon.nova') && (asked === 'high' || asked === 'xhigh')) {
        return { ...limit, reasoning: 'medium' }
      }
      return { ...limit, reasoning: asked }
    case 'google':
    case 'google-vertex':
      return { ...limit, ...forGemini(modelId, asked, outputTokensMax) }
    case 'cohere':
      if (asked === 'none' || outputTokensMax === undefined) return { ...limit, reasoning: asked }
      return {
        ...limit,
        providerOptions: {
          name: 'cohere',
          options: {
            thinking: { type: 'enabled', tokenBudget: shareOf(outputTokensMax, asked) },
          },
        },
      }
  }
}

function isEffort(effort: unknown): effort is Effort {
  return typeof effort === 'string' && (effort === 'none' || Object.hasOwn(SHARE_OF_OUTPUT, effort))
}

function shareOf(tokens: number, effort: Exclude<Effort, 'none'>): number {
  return Math.max(1, Math.round(tokens * SHARE_OF_OUTPUT[effort]))
}

function forClaude(
  modelId: string,
  effort: Effort,
  outputTokensMax: number | undefined,
  withBudget: (budgetTokens: number) => NonNullable<ReasoningOptions['providerOptions']>,
): ReasoningOptions {
  const model = claudeCapabilities(modelId)
  const limit = outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }
  if (effort === 'none') return { ...limit, reasoning: 'none' }
  if (model.supportsAdaptiveThinking) {
    return { ...limit, reasoning: adaptiveEffort(effort, model.supportsXhighEffort) }
  }
  const total = Math.min(
    outputTokensMax ?? model.maxOutputTokens,
    model.isKnownModel ? model.maxOutputTokens : Infinity,
  )
  // A lower limit leaves no room for an answer beside the minimum budget.
  if (total < 2 * CLAUDE_BUDGET_MIN) return { maxOutputTokens: total, reasoning: 'none' }
  const budgetTokens = Math.max(CLAUDE_BUDGET_MIN, shareOf(total, effort))
  // The package adds the budget to this limit.
  return { maxOutputTokens: total - budgetTokens, providerOptions: withBudget(budgetTokens) }
}

function adaptiveEffort(effort: Exclude<Effort, 'none'>, hasXhigh: boolean): Effort {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && !hasXhigh ? 'high' : effort
}

function forGemini(
  modelId: string,
  effort: Effort,
  outputTokensMax: number | undefined,
): ReasoningOptions {
  const { capabilities, requestConfig } = getGoogleLanguageModelEntry(modelId)
  const { efforts, minBudget, maxBudget } = capabilities.language.reasoning
  const { thinkingFormat, reasoningMaxOutputTokens, systemInstruction } = requestConfig.language
  // These models have no reasoning and refuse options for it.
  if (systemInstruction === 'user' || /gemini-(1\.|2\.0)/.test(modelId)) return {}
  const includeThoughts = effort !== 'none'
  if (thinkingFormat === 'level') {
    const thinkingLevel = nearestLevel(efforts ?? [], effort)
    return google(
      thinkingLevel === undefined ? { includeThoughts } : { includeThoughts, thinkingLevel },
    )
  }
  const total = Math.min(outputTokensMax ?? reasoningMaxOutputTokens, reasoningMaxOutputTokens)
  const wanted = effort === 'none' ? 0 : shareOf(total, effort)
  return google({
    includeThoughts,
    thinkingBudget: Math.min(Math.max(wanted, minBudget), maxBudget),
  })
}

function google(thinkingConfig: JSONObject): ReasoningOptions {
  return { providerOptions: { name: 'google', options: { thinkingConfig } } }
}

/** `levels` is in ascending order. Unsupported efforts map to the lowest level (`none`, `minimal`) or the highest. */
function nearestLevel(levels: readonly string[], effort: Effort): string | undefined {
  if (levels.includes(effort)) return effort
  return effort === 'none' || effort === 'minimal' ? levels[0] : levels.at(-1)
}
