/**
 * The units billed beside text tokens: audio seconds and tokens, image tokens, images by size and quality, and the
 * tokens of embeddings. Checked against big rationals that share no code with the product.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../test/harness/effort.ts'
import fc from '../../../test/harness/fast-check.ts'
import { chargeFor } from '../../platform/lib/money.ts'
import { builtInModels } from './built-in-models.ts'
import { parseCatalogConfig, type ModelConfig, type PricesConfig } from './catalog-config-schema.ts'
import { imageUnit, MODEL_CATEGORIES, type ConfiguredModel, type ModelCategory } from './model.ts'
import { loadCatalog } from './load-catalog.ts'
import { costCeilingOf, quote } from './quote.ts'
import { costOf, type PriceTerms, type UnitCounts } from './prices.ts'
import { readPrices } from './read-prices.ts'
import { sandboxModels } from './sandbox-catalog.ts'

const RUNS = effort({ ordinary: 3_000, full: 20_000 })
const at = new Date('2026-11-21T15:00:00Z')

/** A fraction of two bigints. */
interface Rational {
  n: bigint
  d: bigint
}
const rational = (n: bigint, d = 1n): Rational => ({ n, d })
const times = (a: Rational, b: Rational): Rational => ({ n: a.n * b.n, d: a.d * b.d })
const plus = (a: Rational, b: Rational): Rational => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d })
const roundHalfUp = ({ n, d }: Rational): bigint => (2n * n + d) / (2n * d)
const isEqual = (a: Rational, b: Rational): boolean => a.n * b.d === b.n * a.d
/** Reads decimal digits such as 0.04. */
function decimal(digits: string): Rational {
  const [whole = '', fraction = ''] = digits.split('.')
  return rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length))
}
const PICO = rational(1_000_000_000_000n)

const NO_TOKENS = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
}

/** Loads one model of a configuration, with its faults. */
function load(model: Partial<ModelConfig>): {
  model: ConfiguredModel | undefined
  faults: string[]
} {
  const value = {
    models: [{ id: 'own', routes: [{ upstream: 'mine', model: 'x' }], ...model }],
  }
  const { config, faults } = parseCatalogConfig(value)
  if (!config || faults.length > 0) return { model: undefined, faults }
  const loaded = loadCatalog({ config, mode: 'live', hasUpstream: () => true, at })
  return { model: loaded.models.find(({ id }) => id === 'own'), faults: loaded.faults }
}

function priceOf(category: ModelCategory, prices: PricesConfig): PriceTerms {
  const faults: string[] = []
  const price = readPrices('own', category, prices, faults)
  assert.deepEqual(faults, [])
  return price
}

/** The decimal digits of an amount in USD, with up to six decimals. */
const usd = fc
  .integer({ min: 0, max: 2_000_000_000 })
  .map((micro) => `${Math.floor(micro / 1e6)}.${String(micro % 1e6).padStart(6, '0')}`)
const count = fc.nat({ max: 2_000_000 })
const conversion = fc.record({
  fxRateE4: fc.bigInt({ min: 1n, max: 999_999n }),
  markupE4: fc.bigInt({ min: 1n, max: 100_000n }),
})

/** The expected charge for a cost in USD, computed from the definition alone. */
function nanoBrlFor(cost: Rational, on: { fxRateE4: bigint; markupE4: bigint }): bigint {
  const rate = times(rational(on.fxRateE4, 10_000n), rational(on.markupE4, 10_000n))
  return roundHalfUp(times(times(cost, rate), rational(1_000_000_000n)))
}

test(`each kind of token costs exactly a millionth of its price per million (${RUNS} cases)`, () => {
  const kinds = { input: usd, output: usd, input_audio: usd, input_image: usd, output_image: usd }
  fc.assert(
    fc.property(
      fc.record(kinds),
      fc.tuple(count, count, count, count, count),
      conversion,
      (prices, [prompt, completion, audio, imageIn, imageOut], conversion) => {
        const price = priceOf('image', prices)
        const cost = costOf(price, {
          ...NO_TOKENS,
          promptTokens: prompt,
          completionTokens: completion,
          units: {
            input_audio_tokens: audio,
            input_image_tokens: imageIn,
            output_image_tokens: imageOut,
          },
        })
        const parts: [number, string][] = [
          [prompt, prices.input],
          [completion, prices.output],
          [audio, prices.input_audio],
          [imageIn, prices.input_image],
          [imageOut, prices.output_image],
        ]
        const expected = parts.reduce(
          (sum, [tokens, digits]) =>
            plus(sum, times(rational(BigInt(tokens), 1_000_000n), decimal(digits))),
          rational(0n),
        )
        assert.ok(isEqual(rational(cost), times(expected, PICO)))
        assert.equal(chargeFor(cost, conversion), nanoBrlFor(expected, conversion))
      },
    ),
    { numRuns: RUNS },
  )
})

test(`images cost their price times their number (${RUNS} cases)`, () => {
  const images = fc.integer({ min: 1, max: 10 })
  fc.assert(
    fc.property(usd, usd, images, count, conversion, (each, input, images, prompt, conversion) => {
      const price = priceOf('image', { input, images: { default: each } })
      const cost = costOf(price, { ...NO_TOKENS, promptTokens: prompt, units: { images } })
      const expected = plus(
        times(rational(BigInt(images)), decimal(each)),
        times(rational(BigInt(prompt), 1_000_000n), decimal(input)),
      )
      assert.ok(isEqual(rational(cost), times(expected, PICO)))
      assert.equal(chargeFor(cost, conversion), nanoBrlFor(expected, conversion))
    }),
    { numRuns: RUNS },
  )
})

test(`a second costs a 3,600th of the hour, rounded up by less than one pico-USD (${RUNS} cases)`, () => {
  fc.assert(
    fc.property(usd, count, conversion, (hour, seconds, conversion) => {
      const cost = costOf(priceOf('audio', { audio_hour: hour }), {
        ...NO_TOKENS,
        units: { audio_seconds: seconds },
      })
      const exact = times(times(decimal(hour), rational(BigInt(seconds), 3_600n)), PICO)
      const over = cost * exact.d - exact.n
      assert.ok(over >= 0n, 'never less than the price')
      // The comparison is strict, except for zero seconds.
      assert.ok(seconds === 0 ? over === 0n : over < BigInt(seconds) * exact.d)
      // Every second costs the same, so the cost is proportional to their number.
      const one = costOf(priceOf('audio', { audio_hour: hour }), {
        ...NO_TOKENS,
        units: { audio_seconds: 1 },
      })
      assert.equal(cost, one * BigInt(seconds))
      if ((decimal(hour).n * PICO.n) % (decimal(hour).d * 3_600n) === 0n) assert.equal(over, 0n)
      assert.equal(
        chargeFor(cost, conversion),
        nanoBrlFor(rational(cost, 1_000_000_000_000n), conversion),
      )
    }),
    { numRuns: RUNS },
  )
})

test('the price of a second is rounded up to whole pico-USD', () => {
  const second = (audio_hour: string): bigint | undefined =>
    priceOf('audio', { audio_hour }).units?.audio_seconds
  // 0.04 / 3600 = 0.0000111111..., 0.36 / 3600 = 0.0001
  assert.equal(second('0.04'), 11_111_112n)
  assert.equal(second('0.36'), 100_000_000n)
  assert.equal(second('0.000001'), 278n)
  assert.equal(second('0.0036'), 1_000_000n)
  assert.equal(second('0.111'), 30_833_334n)
})

test('computing a cost with an unpriced unit throws: nothing is free', () => {
  const byToken = priceOf('audio', { input_audio: 6, output: 10 })
  for (const units of [
    { audio_seconds: 1 },
    { images: 1 },
    { input_audio_tokens: 3, odd: 0 },
  ] as UnitCounts[]) {
    assert.throws(() => costOf(byToken, { ...NO_TOKENS, units }), /has no price/)
    assert.throws(
      () => costCeilingOf(byToken, { promptTokensMax: 0, unitsMax: units }, 0),
      /has no price/,
    )
  }
  const textOnly = priceOf('embedding', { input: 1 })
  assert.throws(() => costOf(textOnly, { ...NO_TOKENS, units: { audio_seconds: 1 } }))
})

const units: fc.Arbitrary<[string, bigint, number][]> = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom('audio_seconds', 'input_audio_tokens', 'output_image_tokens', 'images'),
    fc.bigInt({ min: 0n, max: 10_000_000_000n }),
    fc.nat({ max: 100_000 }),
  ),
  { selector: ([unit]) => unit },
)

test('the hold covers the charge, whichever route answers', () => {
  const tokens = fc.nat({ max: 100_000 })
  const micro = fc.bigInt({ min: 0n, max: 100_000_000n })
  fc.assert(
    fc.property(
      units,
      fc.array(fc.bigInt({ min: 0n, max: 5n }), { minLength: 1, maxLength: 3 }),
      tokens,
      tokens,
      fc.tuple(micro, micro),
      fc.nat({ max: 1_000 }),
      conversion,
      (units, routes, prompt, completion, [input, output], slack, conversion) => {
        const tier = { input, cachedInput: input, cacheWrite: input, output, reasoning: output }
        const prices = routes.map((factor) => ({
          tiers: [{ abovePromptTokens: 0, ...tier }],
          units: Object.fromEntries(units.map(([unit, each]) => [unit, each * factor])),
        }))
        const used = Object.fromEntries(units.map(([unit, , used]) => [unit, used]))
        const held = quote({
          prices,
          conversion,
          promptTokensMax: prompt + slack,
          outputTokensMax: completion + slack,
          choices: 1,
          unitsMax: Object.fromEntries(units.map(([unit, , used]) => [unit, used + slack])),
        })
        assert.ok(held.ceilingNanoBrl > 0n)
        for (const price of prices) {
          const cost = costOf(price, {
            ...NO_TOKENS,
            promptTokens: prompt,
            completionTokens: completion,
            units: used,
          })
          assert.ok(chargeFor(cost, conversion) <= held.ceilingNanoBrl)
        }
      },
    ),
    { numRuns: RUNS },
  )
})

test('the hold for exact units equals their charge: nothing is added or omitted', () => {
  fc.assert(
    fc.property(units, conversion, (units, conversion) => {
      const price: PriceTerms = {
        tiers: [
          {
            abovePromptTokens: 0,
            input: 0n,
            cachedInput: 0n,
            cacheWrite: 0n,
            output: 0n,
            reasoning: 0n,
          },
        ],
        units: Object.fromEntries(units.map(([unit, each]) => [unit, each])),
      }
      const unitsMax = Object.fromEntries(units.map(([unit, , most]) => [unit, most]))
      const expected = units.reduce((sum, [, each, most]) => sum + each * BigInt(most), 0n)
      const held = quote({
        prices: [price],
        conversion,
        promptTokensMax: 10,
        outputTokensMax: 10,
        choices: 2,
        unitsMax,
      })
      const charge = nanoBrlFor(rational(expected, 1_000_000_000_000n), conversion)
      assert.equal(held.ceilingNanoBrl, charge === 0n ? 1n : charge)
    }),
    { numRuns: RUNS },
  )
})

test('the most specific image price applies: quality and size, size, quality, default', () => {
  const all = {
    'hd:1024x1024': '0.4',
    '1024x1024': '0.3',
    hd: '0.2',
    default: '0.1',
  }
  const without = (...names: string[]): PriceTerms =>
    priceOf('image', {
      images: Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name))),
    })
  const find = (price: PriceTerms): [string | undefined, bigint | undefined] => {
    const unit = imageUnit(price, '1024x1024', 'hd')
    return [unit, unit === undefined ? undefined : price.units?.[unit]]
  }
  assert.deepEqual(find(without()), ['images:hd:1024x1024', 400_000_000_000n])
  assert.deepEqual(find(without('hd:1024x1024')), ['images:1024x1024', 300_000_000_000n])
  assert.deepEqual(find(without('hd:1024x1024', '1024x1024')), ['images:hd', 200_000_000_000n])
  assert.deepEqual(find(without('hd:1024x1024', '1024x1024', 'hd')), ['images', 100_000_000_000n])
  assert.equal(imageUnit(without('default'), '512x512', 'standard'), undefined)
})

test('the built-in models have the published prices, in the units in which they are sold', () => {
  const { models } = loadCatalog({ config: undefined, mode: 'live', hasUpstream: () => true, at })
  const price = (id: string): PriceTerms =>
    models.find((model) => model.id === id)?.price as PriceTerms
  // Whisper: USD 0.006 a minute; its turbo at Groq: USD 0.04 an hour.
  assert.deepEqual(price('whisper-1').units, { audio_seconds: 100_000_000n })
  assert.deepEqual(price('whisper-large-v3-turbo').units, { audio_seconds: 11_111_112n })
  assert.equal(
    models.find(({ id }) => id === 'whisper-large-v3-turbo')?.audio?.secondsMin,
    10,
    'a shorter file is billed as one of ten seconds',
  )
  assert.equal(price('text-embedding-3-small').tiers[0]?.input, 20_000n)
  assert.equal(price('text-embedding-3-large').tiers[0]?.input, 130_000n)
  assert.equal(price('text-embedding-3-small').units, undefined)
})

test('every model that the sandbox or an upstream can serve has a price for its output', () => {
  const { models } = loadCatalog({
    config: undefined,
    mode: 'sandbox',
    hasUpstream: () => false,
    at,
  })
  assert.ok(models.length >= builtInModels.length + sandboxModels.length)
  const isAbove = (amount: bigint | undefined): boolean => amount !== undefined && amount > 0n
  for (const { id, category, price, speech } of models) {
    const [tier] = price.tiers
    const { units = {} } = price
    const isPriced = {
      llm: () => isAbove(tier?.input) && isAbove(tier?.output),
      embedding: () => isAbove(tier?.input),
      image: () => isAbove(units.output_image_tokens) || isAbove(tier?.output),
      audio: () =>
        isAbove(units.audio_seconds) ||
        isAbove(units.characters) ||
        (speech && isAbove(tier?.output)) ||
        (isAbove(units.input_audio_tokens) && isAbove(tier?.output)),
      video: () =>
        Object.entries(units).some(
          ([unit, each]) => unit.startsWith('video_seconds') && isAbove(each),
        ),
    }[category]
    assert.ok(isPriced(), id)
  }
})

/** Incomplete prices of each category, with which the cost of a call could not be computed. */
const LACKING: readonly [ModelCategory, string, PricesConfig][] = [
  ['llm', 'no price at all', {}],
  ['llm', 'no output', { input: 1 }],
  ['llm', 'no input', { output: 1 }],
  ['llm', 'a tier without output', { input: 1, output: 2, tiers: [tierOf({ input: 2 })] }],
  ['embedding', 'no price at all', {}],
  ['embedding', 'no input', { output: 1 }],
  ['embedding', 'a tier without input', { input: 1, tiers: [tierOf({ output: 2 })] }],
  ['image', 'no price at all', {}],
  ['image', 'a price for the prompt only', { input: 1 }],
  ['image', 'a price for input images only', { input: 1, input_image: 1 }],
  ['image', 'an empty list of images', { images: {} }],
  ['image', 'a price for audio', { audio_hour: 1 }],
  ['audio', 'no price at all', {}],
  ['audio', 'a price for text only', { input: 1, output: 1 }],
  ['audio', 'a price for images', { images: { default: 1 } }],
  ['audio', 'a price for audio tokens, but not for the transcript', { input_audio: 6 }],
]

function tierOf(prices: { input?: number; output?: number }) {
  return { above_prompt_tokens: 1_000, ...prices }
}

for (const [category, name, prices] of LACKING) {
  test(`a configuration with incomplete prices is refused: ${category}, ${name}`, () => {
    const ofModel = load({ category, prices })
    assert.ok(ofModel.faults.length > 0, 'the price of a model')
    assert.match(ofModel.faults.join('\n'), /own|\/models\/0/, 'the fault names its place')

    const sound: PricesConfig = {
      input: 1,
      output: 1,
      audio_hour: 1,
      images: { default: 1 },
    }
    const ofRoute = load({
      category,
      prices: sound,
      routes: [{ upstream: 'mine', model: 'x', prices }],
    })
    assert.ok(ofRoute.faults.length > 0, 'the price of a route')
  })
}

test('a configuration without prices or with invalid ones is refused', () => {
  for (const category of MODEL_CATEGORIES) {
    const { faults } = load({ category })
    assert.match(faults.join('\n'), /prices/)
  }
  for (const prices of [
    { audio_hour: -1 },
    { audio_hour: '1e3' },
    { audio_hour: '0.0000001' },
    { audio_hour: 1e-7 },
    { images: { default: '-1' } },
    { images: { '1024': 1 } },
    { images: { 'HD:1024x1024': 1 } },
    { input_audio: 'free' },
    { per_second: 1 },
  ]) {
    const { faults } = load({ category: 'audio', prices: { audio_hour: 1, ...prices } })
    assert.ok(faults.length > 0, JSON.stringify(prices))
  }
})

/** Two routes to a model that are billed by unrelated units. */
const UNLIKE: readonly [ModelCategory, PricesConfig, PricesConfig][] = [
  ['audio', { audio_hour: 1 }, { input_audio: 6, output: 10 }],
  ['audio', { input_audio: 6, output: 10 }, { audio_hour: 1 }],
  ['image', { images: { default: 1 } }, { input: 5, output_image: 40 }],
  ['image', { input: 5, output_image: 40 }, { images: { default: 1 } }],
  ['image', { images: { '1024x1024': 1 } }, { images: { '512x512': 1 } }],
]

for (const [category, prices, ofRoute] of UNLIKE) {
  test(`a configuration whose routes bill by different units is refused: ${category}, ${JSON.stringify(ofRoute)}`, () => {
    const { model, faults } = load({
      category,
      prices,
      routes: [
        { upstream: 'mine', model: 'x' },
        { upstream: 'other', model: 'y', prices: ofRoute },
      ],
    })
    if (faults.length > 0) return
    const [first, second] = (model?.routes ?? []).map((route) =>
      Object.keys(route.price.units ?? {}),
    )
    assert.deepEqual(first, second)
  })
}
