/** The models of the history, from the built-in catalog with its prices. */
import { loadCatalog } from '../../src/money/catalog/load-catalog.ts'
import type { ConfiguredModel } from '../../src/money/catalog/model.ts'

/** From the most used to the least. */
const MODEL_IDS = [
  'gpt-4o-mini',
  'gpt-5-mini',
  'claude-haiku-4-5',
  'gemini-2.5-flash',
  'gpt-5.1',
  'claude-sonnet-5',
  'deepseek-chat',
  'gpt-4.1-nano',
  'gpt-oss-120b',
  'grok-4',
  'text-embedding-3-small',
  'whisper-1',
]

/** No prompt of the history is longer, so only the first tier of each price applies. */
export const PROMPT_TOKENS_MAX = 20_000

const UPSTREAM = 'bench'

/** Never called: only reads are measured. */
export const historyConfig = {
  upstreams: [{ id: UPSTREAM, kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' }],
  models: MODEL_IDS.map((id) => ({ id, routes: [{ upstream: UPSTREAM, model: id }] })),
}

export function loadHistoryModels(): readonly ConfiguredModel[] {
  const { models, faults } = loadCatalog({
    config: historyConfig,
    mode: 'live',
    hasUpstream: (id) => id === UPSTREAM,
    at: new Date(),
  })
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return MODEL_IDS.map((id) => {
    const model = models.find((model) => model.id === id)
    if (!model) throw new Error(`the catalog has no model "${id}"`)
    if ((model.price.tiers[1]?.abovePromptTokens ?? Infinity) < PROMPT_TOKENS_MAX)
      throw new Error(`the price of "${id}" has a tier below ${PROMPT_TOKENS_MAX} tokens`)
    return model
  })
}
