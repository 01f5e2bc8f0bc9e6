/**
 * The whole catalog beside the price data of `@pydantic/genai-prices`, as that package computes it itself. A new release
 * of the package fails this test where it knows something that the catalog does not.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { withPriceIds } from '../../../test/harness/with-price-ids.ts'
import { builtInModels, type BuiltInModel } from './built-in-models.ts'
import { createCatalog } from './catalog.ts'
import { HOUR_CACHE_UNIT } from './hour-cache.ts'
import { loadCatalog } from './load-catalog.ts'
import type { Model } from './model.ts'
import { costOf, type TokenCounts } from './prices.ts'

/** The reasons why the catalog differs from the package. An entry that no longer applies fails the test. */
const EXPLAINED: Readonly<Record<string, readonly string[]>> = {
  // The package cannot say that peak hours are those of working days; DeepSeek's pricing page does.
  'deepseek-v4-pro': ['price: 14 on Sat', 'price: 14 on Sun'],
  'deepseek-v4-flash': ['price: 14 on Sat', 'price: 14 on Sun'],
  // The makers' documentation has the exact number of tokens; the data rounds it.
  'gpt-4.1': ['context: 1000000'],
  'gpt-4.1-mini': ['context: 1000000'],
  'gpt-4.1-nano': ['context: 1000000'],
  'gemini-3.8-flash': ['context: 1000000'],
  'gemini-3.1-flash-lite': ['context: 1000000'],
  'gemini-2.5-flash-lite': ['context: 1000000'],
  'gemini-2.0-flash': ['context: 1000000'],
  // Since V3.1 the context has 128K; the data has that of the first version.
  'deepseek-chat': ['context: 64000'],
  'deepseek-reasoner': ['context: 64000'],
  // The data has the context of the text model that it is made of.
  'gemini-2.5-flash-image': ['context: 1000000'],
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const HALF_HOUR_MS = 1_800_000
const START = Date.parse('2026-11-21T00:00:00Z')
/** Each half hour of a week, and the turn of the year, at which prices change. */
const TIMES = [
  ...Array.from({ length: 336 }, (_, index) => START + index * HALF_HOUR_MS),
  Date.parse('2026-12-31T23:59:59Z'),
  Date.parse('2027-01-01T00:00:00Z'),
]

test('every built-in model has the prices and the context of the price data, but for what is explained', () => {
  const clock = { ms: START }
  const options = { config: undefined, mode: 'live', hasUpstream: () => true } as const
  const { models } = loadCatalog({ ...options, at: new Date(START) })
  const catalog = createCatalog(withPriceIds(models), () => clock.ms)
  const found: Record<string, string[]> = {}
  for (const entry of builtInModels.filter(({ priceFrom }) => priceFrom)) {
    const data = findData(entry)
    const context = data?.context_window
    const own: string[] = []
    if (context !== undefined && context !== entry.contextTokens) own.push(`context: ${context}`)
    const wrong = new Map<string, number>()
    for (const ms of Array.isArray(data?.prices) ? TIMES : TIMES.slice(-1)) {
      clock.ms = ms
      const model = catalog.findModel(entry.id)
      assert.ok(model)
      if (usesOf(model).every((used) => isEqual(model, entry, used, ms))) continue
      const day = DAYS[new Date(ms).getUTCDay()] as string
      wrong.set(day, (wrong.get(day) ?? 0) + 1)
    }
    own.push(...[...wrong].map(([day, count]) => `price: ${count} on ${day}`))
    if (own.length > 0) found[entry.id] = own
  }
  assert.deepEqual(found, EXPLAINED)
})

test('every model of the catalog is in use: none is marked as retired by the price data', () => {
  const retired = builtInModels.filter((entry) => findData(entry)?.deprecated)
  assert.deepEqual(
    retired.map(({ id }) => id),
    [],
  )
})

function findData({ priceFrom }: BuiltInModel) {
  const provider = priceFrom && findProvider({ providerId: priceFrom.provider })
  return provider?.models.find(({ id }) => id === priceFrom?.model)
}

interface Use {
  readonly tokens: TokenCounts
  readonly units: Readonly<Record<string, number>>
}

/** Uses on both sides of every tier, and of every unit. */
function usesOf({ category, contextTokens, price }: Model): Use[] {
  const none = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  const output = { completionTokens: price.tiers.some((tier) => tier.output > 0n) ? 20 : 0 }
  const units = Object.keys(price.units ?? {}).filter((unit) => !unit.startsWith(HOUR_CACHE_UNIT))
  const ofUnits = units.map((unit) => ({
    tokens: { ...none, completionTokens: 0 },
    units: { [unit]: 3_600 },
  }))
  if (price.tiers.every((tier) => tier.input === 0n)) return ofUnits
  const prompts = [1_000, 60_000, 150_000, 250_000, 300_000, 900_000].filter(
    (tokens) => tokens <= contextTokens,
  )
  const ofTokens = prompts.flatMap((promptTokens) =>
    [
      {},
      category === 'llm' ? { cachedTokens: promptTokens / 10 } : {},
      category === 'llm' ? { cacheWriteTokens: promptTokens / 10 } : {},
    ].map((more) => ({ tokens: { ...none, promptTokens, ...output, ...more }, units: {} })),
  )
  return [...ofTokens, ...ofUnits]
}

/** The package's units, and whether their tokens are part of the input or of the output. */
const THEIR_UNITS: Readonly<Record<string, { name: string; total?: string }>> = {
  audio_seconds: { name: 'audio_seconds' },
  input_audio_tokens: { name: 'input_audio_tokens', total: 'input_tokens' },
  input_image_tokens: { name: 'input_image_tokens', total: 'input_tokens' },
  output_image_tokens: { name: 'output_image_tokens', total: 'output_tokens' },
}

function isEqual(model: Model, entry: BuiltInModel, { tokens, units }: Use, ms: number): boolean {
  const usage: Record<string, number> = {
    input_tokens: tokens.promptTokens,
    cache_read_tokens: tokens.cachedTokens,
    cache_write_tokens: tokens.cacheWriteTokens,
    output_tokens: tokens.completionTokens,
  }
  for (const [unit, count] of Object.entries(units)) {
    const { name, total } = THEIR_UNITS[unit] ?? assert.fail(`${unit} is not compared`)
    usage[name] = count
    if (total) usage[total] = (usage[total] ?? 0) + count
  }
  const theirs = calcPrice(usage, entry.routes[0]?.upstreamModel ?? entry.id, {
    providerId: entry.priceFrom?.provider ?? assert.fail(entry.id),
    timestamp: new Date(ms),
  })
  assert.ok(theirs, entry.id)
  const ours = Number(costOf(model.price, { ...tokens, units })) / 1e12
  return Math.abs(ours - theirs.total_price) <= 1e-8 * Math.max(1, theirs.total_price)
}
