/** The price of a call, computed from what the service publishes. Whole numbers only, and nothing of `src`. */

/** `1.25` with 4 digits is 12500. Throws for anything that is not a plain decimal. */
export function scaled(text: unknown, digits: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(text))
  const fraction = match?.[3] ?? ''
  if (!match || fraction.length > digits) throw new Error(`${String(text)} is no amount`)
  const value = BigInt((match[2] ?? '') + fraction.padEnd(digits, '0'))
  return match[1] === '-' ? -value : value
}

export interface PublishedPrice {
  readonly tiers: readonly Readonly<Record<string, string>>[]
  readonly units: Readonly<Record<string, string>>
}

/** Tokens of one call. The cached ones are part of the prompt, those of reasoning part of the completion. */
export interface Counts {
  readonly prompt: number
  readonly cached: number
  readonly cacheWrite: number
  readonly completion: number
  readonly reasoning: number
  readonly units: Readonly<Record<string, number>>
}

/** In 10^-12 USD. */
export function costOf({ tiers, units }: PublishedPrice, counts: Counts): bigint {
  const tier = tiers.findLast(
    (each) =>
      Number(each.above_prompt_tokens) === 0 || counts.prompt > Number(each.above_prompt_tokens),
  )
  if (!tier) throw new Error('a price without a tier')
  // USD per million tokens, with six decimals, is 10^-12 USD per token.
  const tokens: readonly (readonly [number, string | undefined])[] = [
    [counts.prompt - counts.cached - counts.cacheWrite, tier.input],
    [counts.cached, tier.cached_input],
    [counts.cacheWrite, tier.cache_write],
    [counts.completion - counts.reasoning, tier.output],
    [counts.reasoning, tier.reasoning],
  ]
  let cost = 0n
  for (const [count, usd] of tokens) cost += BigInt(count) * scaled(usd, 6)
  for (const [unit, count] of Object.entries(counts.units))
    cost += BigInt(count) * scaled(units[unit], 12)
  return cost
}

/** `cost_upstream_usd x fx_rate x markup_multiplier`, rounded half up once, in 10^-9 BRL. */
export function billedOf(costPicoUsd: bigint, rate: string, markup: string): bigint {
  const product = costPicoUsd * scaled(rate, 4) * scaled(markup, 4)
  const divisor = 10n ** 11n
  return (2n * product + divisor) / (2n * divisor)
}
