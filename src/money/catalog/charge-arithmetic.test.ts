/** Checks price x tokens x fx x markup against big rationals that share no code with the product. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../test/harness/effort.ts'
import fc from '../../../test/harness/fast-check.ts'
import { billedPicoUsd, chargeFor } from '../../platform/lib/money.ts'
import { costCeilingOf, outputTokensThatFit, quote } from './quote.ts'
import { costOf, type PriceTerms, type TokenCounts } from './prices.ts'

const RUNS = effort({ ordinary: 15_000, full: 100_000 })

/** A fraction of two bigints; `digits` reads a decimal string such as 2.5. */
interface Rational {
  n: bigint
  d: bigint
}
const rational = (n: bigint, d = 1n): Rational => ({ n, d })
const times = (a: Rational, b: Rational): Rational => ({ n: a.n * b.n, d: a.d * b.d })
const plus = (a: Rational, b: Rational): Rational => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d })
/** Rounds half up: the floor of twice the value plus one, halved. */
const roundHalfUp = ({ n, d }: Rational): bigint => (2n * n + d) / (2n * d)

const micro = fc.bigInt({ min: 0n, max: 200_000_000n })
const tier = fc.record({
  input: micro,
  cachedInput: micro,
  cacheWrite: micro,
  output: micro,
  reasoning: micro,
})
const price: fc.Arbitrary<PriceTerms> = fc
  .tuple(tier, fc.option(fc.tuple(fc.integer({ min: 1, max: 500_000 }), tier), { nil: undefined }))
  .map(([first, second]) => ({
    tiers: [
      { abovePromptTokens: 0, ...first },
      ...(second ? [{ abovePromptTokens: second[0], ...second[1] }] : []),
    ],
  }))
const count = fc.integer({ min: 0, max: 1_000_000 })
const tokens: fc.Arbitrary<TokenCounts> = fc
  .tuple(count, count, count, count, count)
  .map(([cached, write, plain, reasoning, output]) => ({
    promptTokens: cached + write + plain,
    cachedTokens: cached,
    cacheWriteTokens: write,
    completionTokens: reasoning + output,
    reasoningTokens: reasoning,
  }))
/** Round rates give charges of exactly half a nano-BRL, which others give once in a hundred thousand cases. */
const conversion = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      fxRateE4: fc.bigInt({ min: 1n, max: 999_999n }),
      markupE4: fc.bigInt({ min: 1n, max: 100_000n }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      fxRateE4: fc.constantFrom(10_000n, 50_000n, 100_000n),
      markupE4: fc.constantFrom(10_000n, 20_000n),
    }),
  },
)
/** The second tier of the price often begins at the very prompt, or beside it. */
const pricedTokens: fc.Arbitrary<[PriceTerms, TokenCounts]> = fc
  .tuple(price, tokens, fc.constantFrom(undefined, undefined, -1, 0, 1))
  .map(([{ tiers }, used, beside]) => {
    const [first, second] = tiers as [PriceTerms['tiers'][0], PriceTerms['tiers'][0]?]
    const above = used.promptTokens + (beside ?? 0)
    if (beside === undefined || second === undefined || above < 1) return [{ tiers }, used]
    return [{ tiers: [first, { ...second, abovePromptTokens: above }] }, used]
  })

/** The cost in USD, from prices in USD per million tokens. */
function exactCost({ tiers }: PriceTerms, used: TokenCounts): Rational {
  const applies = tiers.filter(
    (each) => each.abovePromptTokens === 0 || each.abovePromptTokens < used.promptTokens,
  )
  const tier = applies.at(-1) as PriceTerms['tiers'][number]
  const parts: [number, bigint][] = [
    [used.promptTokens - used.cachedTokens - used.cacheWriteTokens, tier.input],
    [used.cachedTokens, tier.cachedInput],
    [used.cacheWriteTokens, tier.cacheWrite],
    [used.completionTokens - used.reasoningTokens, tier.output],
    [used.reasoningTokens, tier.reasoning],
  ]
  return parts.reduce(
    (sum, [amount, microUsd]) =>
      plus(sum, times(rational(BigInt(amount), 1_000_000n), rational(microUsd, 1_000_000n))),
    rational(0n),
  )
}

test(`a charge is price x tokens x fx x markup, rounded half up once to the nano-BRL (${RUNS} cases)`, () => {
  fc.assert(
    fc.property(pricedTokens, conversion, ([price, used], { fxRateE4, markupE4 }) => {
      const usd = exactCost(price, used)
      const brl = times(times(usd, rational(fxRateE4, 10_000n)), rational(markupE4, 10_000n))
      const cost = costOf(price, used)
      assert.equal(cost * usd.d, usd.n * 1_000_000_000_000n)
      assert.equal(
        chargeFor(cost, { fxRateE4, markupE4 }),
        roundHalfUp(times(brl, rational(1_000_000_000n))),
      )
      assert.equal(
        billedPicoUsd(cost, markupE4),
        roundHalfUp(times(times(usd, rational(markupE4, 10_000n)), rational(1_000_000_000_000n))),
      )
    }),
    { numRuns: RUNS },
  )
})

test('the hold covers every charge for usage within its bounds', () => {
  fc.assert(
    fc.property(
      pricedTokens,
      conversion,
      fc.oneof(fc.nat({ max: 1000 }), fc.nat({ max: 2 })),
      ([price, used], conversion, slack) => {
        const promptTokensMax = used.promptTokens + slack
        const outputTokensMax = used.completionTokens + slack
        const held = quote({
          prices: [price],
          conversion,
          promptTokensMax,
          outputTokensMax,
          choices: 1,
        })
        assert.ok(chargeFor(costOf(price, used), conversion) <= held.ceilingNanoBrl)
        assert.ok(costOf(price, used) <= costCeilingOf(price, { promptTokensMax }, outputTokensMax))
      },
    ),
    { numRuns: effort({ ordinary: 4_000, full: 20_000 }) },
  )
})

test('the reported output tokens fit the balance, and one more does not', () => {
  const room = fc.bigInt({ min: 0n, max: 1_000_000_000_000n })
  fc.assert(
    fc.property(
      price,
      conversion,
      fc.nat({ max: 100_000 }),
      fc.integer({ min: 1, max: 4 }),
      room,
      room,
      (price, conversion, promptTokensMax, choices, nanoBrl, billed) => {
        const input = {
          prices: [price],
          conversion,
          promptTokensMax,
          outputTokensMax: 1_000_000,
          choices,
        }
        const fits = outputTokensThatFit(input, { nanoBrl, billedPicoUsd: billed })
        if (fits > 0) {
          const held = quote({ ...input, outputTokensMax: fits })
          assert.ok(held.ceilingNanoBrl <= (nanoBrl > 0n ? nanoBrl : 1n))
          assert.ok(held.ceilingPicoUsd <= billed)
        }
        if (fits < input.outputTokensMax) {
          const more = quote({ ...input, outputTokensMax: fits + 1 })
          // Rounding half up leaves half a nano-BRL, within which one more token would charge the same.
          assert.ok(more.ceilingNanoBrl >= nanoBrl || more.ceilingPicoUsd >= billed)
        }
      },
    ),
    { numRuns: effort({ ordinary: 4_000, full: 20_000 }) },
  )
})
