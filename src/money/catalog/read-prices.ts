/** Reads the prices of a configuration, in decimal USD, into whole numbers. Collects all faults instead of throwing. */
import { parseUsd } from '../../platform/lib/money.ts'
import type { PricesConfig } from './catalog-config-schema.ts'
import type { ModelCategory } from './model.ts'
import { hourCacheUnits } from './hour-cache.ts'
import { picoUsdPerSecond } from './price-from-data.ts'
import type { PriceTerms, PriceTier } from './prices.ts'
import { WEB_SEARCH_UNIT } from './web-search.ts'

const PICO_PER_MICRO = 1_000_000n

export function readPrices(
  modelId: string,
  category: ModelCategory,
  prices: PricesConfig,
  faults: string[],
): PriceTerms {
  const fault = (text: string): void => void faults.push(`model "${modelId}": ${text}`)
  /** Returns 1 for an invalid price; it is never used, because the recorded fault stops the start. */
  const picoUsd = (usd: string | number): bigint => {
    const pico = parseUsd(String(usd))
    if (pico !== undefined && pico % PICO_PER_MICRO === 0n) return pico
    fault(`the price ${usd} is not in whole micro-USD`)
    return 1n
  }
  const microUsd = (usd: string | number): bigint => picoUsd(usd) / PICO_PER_MICRO

  const units = readUnits(prices, picoUsd)
  const missing = findMissing(category, prices)
  if (missing !== undefined) fault(`${missing} so it needs its price`)
  const { tiers = [] } = prices
  // The prompts of all rounds are reported as one sum, which says nothing about the tier of each.
  if (prices.web_search !== undefined && tiers.length > 0)
    fault('"web_search" needs prices without "tiers"')
  const given = [
    { ...prices, above_prompt_tokens: 0 },
    ...[...tiers].sort((a, b) => a.above_prompt_tokens - b.above_prompt_tokens),
  ]
  const read = given.map((tier) => readTier(tier, tier.above_prompt_tokens, microUsd))
  const hours = given.map((tier) => tier.cache_write_1h)
  if (hours.some((usd) => usd !== undefined)) {
    if (hours.some((usd) => usd === undefined)) fault('every tier needs "cache_write_1h", or none')
    const hourPrices = hours.map((usd) => microUsd(usd ?? 0))
    Object.assign(units, hourCacheUnits(read, hourPrices))
  }
  return { tiers: read, ...(Object.keys(units).length > 0 ? { units } : {}) }
}

/** The missing price without which the cost of a call could not be computed; undefined if none is missing. */
function findMissing(category: ModelCategory, prices: PricesConfig): string | undefined {
  const tiers = [prices, ...(prices.tiers ?? [])]
  const lacks = (name: 'input' | 'output'): boolean =>
    tiers.some((tier) => tier[name] === undefined)
  switch (category) {
    case 'llm':
      return lacks('input') || lacks('output')
        ? 'it reads "input" and writes "output" tokens,'
        : undefined
    case 'embedding':
      return lacks('input') && prices.search_unit === undefined
        ? 'it reads "input" tokens (a reranker may have "search_unit"),'
        : undefined
    case 'image':
      return Object.keys(prices.images ?? {}).length > 0 ||
        prices.output_image !== undefined ||
        !lacks('output')
        ? undefined
        : 'it makes images ("images", "output_image" or "output"),'
    case 'audio':
      return prices.audio_hour !== undefined ||
        prices.characters !== undefined ||
        prices.output_audio !== undefined ||
        (prices.input_audio !== undefined && !lacks('output'))
        ? undefined
        : 'it listens to audio ("audio_hour", or "input_audio" and "output") or speaks ("characters", or "output_audio"),'
    case 'video':
      return Object.keys(prices.video_seconds ?? {}).length > 0
        ? undefined
        : 'it makes videos ("video_seconds"),'
  }
}

function readUnits(
  prices: PricesConfig,
  picoUsd: (usd: string | number) => bigint,
): Record<string, bigint> {
  const units: Record<string, bigint> = {}
  const perMillion = {
    characters: prices.characters,
    input_audio_tokens: prices.input_audio,
    output_audio_tokens: prices.output_audio,
    input_image_tokens: prices.input_image,
    output_image_tokens: prices.output_image,
  }
  for (const [unit, usd] of Object.entries(perMillion))
    if (usd !== undefined) units[unit] = picoUsd(usd) / PICO_PER_MICRO
  if (prices.audio_hour !== undefined)
    units.audio_seconds = picoUsdPerSecond(picoUsd(prices.audio_hour) / PICO_PER_MICRO)
  if (prices.search_unit !== undefined) units.search_units = picoUsd(prices.search_unit)
  if (prices.web_search !== undefined) units[WEB_SEARCH_UNIT] = picoUsd(prices.web_search)
  for (const [kind, usd] of Object.entries(prices.images ?? {}))
    units[kind === 'default' ? 'images' : `images:${kind}`] = picoUsd(usd)
  for (const [size, usd] of Object.entries(prices.video_seconds ?? {}))
    units[size === 'default' ? 'video_seconds' : `video_seconds:${size}`] = picoUsd(usd)
  return units
}

function readTier(
  prices: Omit<PricesConfig, 'tiers'>,
  abovePromptTokens: number,
  microUsd: (usd: string | number) => bigint,
): PriceTier {
  const { input = 0, output = 0 } = prices
  return {
    abovePromptTokens,
    input: microUsd(input),
    cachedInput: microUsd(prices.cached_input ?? input),
    cacheWrite: microUsd(prices.cache_write ?? input),
    output: microUsd(output),
    reasoning: microUsd(prices.reasoning ?? output),
  }
}
