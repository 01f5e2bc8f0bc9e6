/** Compares the amounts of prices. Pure. */
import { decimalUsd } from '../../platform/lib/money.ts'
import type { PriceSchedule } from './price-schedule.ts'
import type { PriceTerms, PriceTier, TokenPrices } from './prices.ts'

/** An amount more than this many times another, or that many times less, is probably a slip. */
const FACTOR_MAX = 2n
/** 10,000 %. */
const RISE_MAX_E2 = 1_000_000n
export const KINDS = ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const
const NAMES: Readonly<Record<keyof TokenPrices, string>> = {
  input: 'input',
  cachedInput: 'cached input',
  cacheWrite: 'cache write',
  output: 'output',
  reasoning: 'reasoning',
}
/** Pico-USD per token is micro-USD per million tokens. */
const TOKENS = 1_000_000n

/** Every amount by name, in pico-USD: per million tokens, or per unit. Tiers begin at the given sizes of the prompt. */
function amountsOf(price: PriceTerms, starts: readonly number[]): Map<string, bigint> {
  const amounts = new Map<string, bigint>()
  for (const start of starts) {
    const tier = price.tiers.findLast((each) => each.abovePromptTokens <= start)
    if (!tier) continue
    for (const kind of KINDS)
      amounts.set(start === 0 ? NAMES[kind] : `${NAMES[kind]} above ${start}`, tier[kind] * TOKENS)
  }
  for (const [unit, each] of Object.entries(price.units ?? {}))
    amounts.set(unit, unit.includes('_tokens') ? each * TOKENS : each)
  return amounts
}

function startsOf(...prices: readonly PriceTerms[]): number[] {
  const starts = prices.flatMap(({ tiers }) =>
    tiers.map((tier: PriceTier) => tier.abovePromptTokens),
  )
  return [...new Set(starts)].sort((a, b) => a - b)
}

function differingAmounts(before: PriceTerms, after: PriceTerms) {
  const starts = startsOf(before, after)
  const [old, young] = [amountsOf(before, starts), amountsOf(after, starts)]
  return [...new Set([...old.keys(), ...young.keys()])]
    .map((name) => ({ name, before: old.get(name), after: young.get(name) }))
    .filter((each) => each.before !== each.after)
}

/**
 * Writes a difference as `input 0.15 -> 0.2, output 0.6 -> 0.8`, in USD per million tokens or per unit; undefined for
 * equal prices.
 */
export function describeDifference(before: PriceTerms, after: PriceTerms): string | undefined {
  const differing = differingAmounts(before, after)
  if (differing.length === 0) return undefined
  const text = (amount: bigint | undefined) => (amount === undefined ? 'none' : decimalUsd(amount))
  return differing
    .map((each) => `${each.name} ${text(each.before)} -> ${text(each.after)}`)
    .join(', ')
}

/** Returns the difference of a whole schedule from the price in force, one part for each scheduled price. */
export function describeAmounts(
  inForce: PriceTerms,
  schedule: PriceSchedule<PriceTerms>,
): string | undefined {
  const [only, ...later] = schedule
  const first = describeDifference(inForce, only.price)
  if (later.length === 0) return first
  return [
    first ?? 'as now',
    ...later.map(({ startsAt, window, price }) => {
      const from = startsAt ? `from ${startsAt.toISOString()}: ` : ''
      const daily = window ? 'at some hours: ' : ''
      return `${from}${daily}${describeDifference(inForce, price) ?? 'as now'}`
    }),
  ].join('; ')
}

/** Whether the price is far from each of the others: then no other hour of the day explains it. */
export function isFarFromAll(price: PriceTerms, others: readonly PriceTerms[]): boolean {
  return others.every((other) =>
    differingAmounts(other, price).some(({ before = 0n, after = 0n }) =>
      isBeyond(FACTOR_MAX, before, after),
    ),
  )
}

/** Whether an amount that both have is more than so many times the other. */
export function movesMoreThan(factor: bigint, from: PriceTerms, to: PriceTerms): boolean {
  return differingAmounts(from, to).some(
    ({ before, after }) =>
      before !== undefined && after !== undefined && isBeyond(factor, before, after),
  )
}

function isBeyond(factor: bigint, before: bigint, after: bigint): boolean {
  return after > before * factor || before > after * factor
}

/** Whether no amount is higher, and none appears or vanishes. */
export function isOnlyCheaper(from: PriceTerms, to: PriceTerms): boolean {
  return differingAmounts(from, to).every(
    ({ before, after }) => before !== undefined && after !== undefined && after < before,
  )
}

/** The rise of the amount that rises the most, in hundredths of a per cent; 0 if none does. */
export function highestRiseE2(from: PriceTerms, to: PriceTerms): number {
  const rises = differingAmounts(from, to).map(({ before, after }) =>
    before === undefined || after === undefined || after <= before
      ? 0
      : Number(before === 0n ? RISE_MAX_E2 : ((after - before) * 10_000n) / before || 1n),
  )
  return Math.min(Number(RISE_MAX_E2), Math.max(0, ...rises))
}

/** Whether an amount of the cost is above that of the price, times the markup. */
export function isBelowCost(price: PriceTerms, cost: PriceTerms, markupE4: bigint): boolean {
  return differingAmounts(price, cost).some(
    ({ before, after }) =>
      before !== undefined && after !== undefined && after * 10_000n > before * markupE4,
  )
}
