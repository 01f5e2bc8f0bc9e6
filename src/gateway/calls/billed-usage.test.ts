import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../test/harness/effort.ts'
import fc from '../../../test/harness/fast-check.ts'
import type { Model } from '../../money/catalog/model.ts'
import { costOf, type PriceTerms, type UnitPrices } from '../../money/catalog/prices.ts'
import { sandboxModels } from '../../money/catalog/sandbox-catalog.ts'
import type { ReportedUsage } from '../providers/contract.ts'
import { billedUsage } from './billed-usage.ts'

const modelOf = (id: string): Model => sandboxModels.find((model) => model.id === id) as Model
const LLM = modelOf('sandbox-chat')
const AUDIO = modelOf('sandbox-transcribe')
const IMAGE = modelOf('sandbox-image')

const TIER = {
  abovePromptTokens: 0,
  input: 1_000n,
  cachedInput: 500n,
  cacheWrite: 1_250n,
  output: 4_000n,
  reasoning: 4_000n,
}
const priced = (units?: UnitPrices): PriceTerms => ({
  tiers: [TIER],
  ...(units ? { units } : {}),
})

function reported(more: Partial<ReportedUsage>): ReportedUsage {
  return {
    promptTokens: 100,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 50,
    reasoningTokens: 0,
    ...more,
  }
}

test('without unit prices every token is billed as text', () => {
  const usage = reported({ audioInputTokens: 30, imageInputTokens: 20, imageOutputTokens: 10 })
  const { promptTokens, completionTokens, units } = billedUsage(IMAGE, priced(), usage)
  assert.deepEqual([promptTokens, completionTokens, units], [100, 50, undefined])
})

test('tokens with a separate price are taken out of the text tokens, and none is billed twice', () => {
  const price = priced({ input_audio_tokens: 1n, input_image_tokens: 2n, output_image_tokens: 3n })
  const usage = reported({ audioInputTokens: 30, imageInputTokens: 20, imageOutputTokens: 45 })
  const { promptTokens, completionTokens, units } = billedUsage(LLM, price, usage)
  assert.deepEqual([promptTokens, completionTokens], [50, 5])
  assert.deepEqual(units, {
    input_audio_tokens: 30,
    input_image_tokens: 20,
    output_image_tokens: 45,
  })
})

test('tokens that the upstream does not split are billed as the own medium of the model', () => {
  const byToken = priced({ input_audio_tokens: 1n, output_image_tokens: 3n })
  assert.deepEqual(billedUsage(AUDIO, byToken, reported({})).units, { input_audio_tokens: 100 })
  assert.deepEqual(billedUsage(IMAGE, byToken, reported({})).units, { output_image_tokens: 50 })
  assert.equal(billedUsage(LLM, byToken, reported({})).units, undefined)
})

test('a reported count of zero is accepted', () => {
  const price = priced({ input_audio_tokens: 1n })
  const usage = billedUsage(AUDIO, price, reported({ audioInputTokens: 0 }))
  assert.deepEqual([usage.promptTokens, usage.units], [100, undefined])
})

test('seconds are rounded up, and at least the minimum of the model', () => {
  const price = priced({ audio_seconds: 1n })
  const least = { ...AUDIO, audio: { secondsMin: 10, secondsMax: 60, hasTimestamps: true } }
  const secondsOf = (model: Model, audioSeconds: number): number | undefined =>
    billedUsage(model, price, reported({ audioSeconds })).units?.audio_seconds
  assert.deepEqual(
    [0, 0.001, 1, 1.0001, 59.5].map((seconds) => secondsOf(AUDIO, seconds)),
    [0, 1, 1, 2, 60],
  )
  assert.deepEqual(
    [0, 9.9, 10, 10.1, 90].map((seconds) => secondsOf(least, seconds)),
    [10, 10, 10, 11, 90],
  )
})

test('seconds are billed only if they have a price and were reported', () => {
  const bySecond = priced({ audio_seconds: 1n })
  assert.equal(billedUsage(AUDIO, bySecond, reported({})).units, undefined)
  const byToken = priced({ input_audio_tokens: 1n })
  const usage = billedUsage(AUDIO, byToken, reported({ audioSeconds: 3 }))
  assert.deepEqual(usage.units, { input_audio_tokens: 100 })
})

test('cached and reasoning tokens never exceed the text tokens that include them', () => {
  const price = priced({ input_audio_tokens: 1n, output_image_tokens: 1n })
  const usage = reported({
    cachedTokens: 80,
    cacheWriteTokens: 15,
    audioInputTokens: 90,
    reasoningTokens: 40,
    imageOutputTokens: 30,
  })
  const { units: _, ...tokens } = billedUsage(LLM, price, usage)
  assert.deepEqual(tokens, {
    promptTokens: 10,
    cachedTokens: 10,
    cacheWriteTokens: 0,
    completionTokens: 20,
    reasoningTokens: 20,
  })
})

test('for any report, every token is billed once, at an existing price, and never below zero', () => {
  const tokens = fc.nat({ max: 100_000 })
  const maybe = fc.option(tokens, { nil: undefined })
  const names = [
    'audio_seconds',
    'input_audio_tokens',
    'input_image_tokens',
    'output_image_tokens',
  ] as const
  fc.assert(
    fc.property(
      fc.constantFrom(LLM, AUDIO, IMAGE, modelOf('sandbox-embedding')),
      fc.subarray([...names]),
      fc.record({ promptTokens: tokens, completionTokens: tokens }),
      fc.tuple(tokens, tokens, tokens),
      fc.tuple(maybe, maybe, maybe, maybe),
      (model, priced, sums, [cached, write, reasoning], [audio, imageIn, imageOut, seconds]) => {
        const price: PriceTerms = {
          tiers: [TIER],
          units: Object.fromEntries(priced.map((name) => [name, 7n])),
        }
        const usage: ReportedUsage = {
          ...sums,
          cachedTokens: cached,
          cacheWriteTokens: write,
          reasoningTokens: reasoning,
          ...(audio === undefined ? {} : { audioInputTokens: audio }),
          ...(imageIn === undefined ? {} : { imageInputTokens: imageIn }),
          ...(imageOut === undefined ? {} : { imageOutputTokens: imageOut }),
          ...(seconds === undefined ? {} : { audioSeconds: seconds / 100 }),
        }
        const billed = billedUsage(model, price, usage)
        const { units = {} } = billed
        assert.equal(
          billed.promptTokens + (units.input_audio_tokens ?? 0) + (units.input_image_tokens ?? 0),
          sums.promptTokens,
        )
        assert.equal(
          billed.completionTokens + (units.output_image_tokens ?? 0),
          sums.completionTokens,
        )
        assert.ok(billed.cachedTokens + billed.cacheWriteTokens <= billed.promptTokens)
        assert.ok(billed.reasoningTokens <= billed.completionTokens)
        const counts = [...Object.values(units), ...Object.values({ ...billed, units: 0 })]
        assert.ok(counts.every((count) => Number.isInteger(count) && count >= 0))
        assert.ok(costOf(price, billed) >= 0n)
      },
    ),
    { numRuns: effort({ ordinary: 5_000, full: 20_000 }) },
  )
})
