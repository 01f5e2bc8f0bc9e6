import { chargeFor } from '../../src/platform/lib/money.ts'
import type { CalculatorPrices, PricedModel } from './calculator-prices.ts'
import type { Invoice, InvoiceLine } from './read-invoice.ts'

export interface ComparedLine {
  readonly text: string
  readonly cost: bigint
  /** nano-BRL. */
  readonly charge: bigint
}

export interface Comparison {
  readonly lines: readonly ComparedLine[]
  /** pico-USD. */
  readonly cost: bigint
  /** nano-BRL, here. */
  readonly charge: bigint
  /** nano-BRL, by an international card. */
  readonly card: bigint
}

export interface CardTerms {
  /** Percent times 10^2. */
  readonly iofE2: bigint
  readonly spreadE2: bigint
}

const E2 = 10_000n

/** `usual`: the model whose markup applies to lines that name none. */
export function compareCosts(
  { lines }: Invoice,
  { rateE4 }: CalculatorPrices,
  usual: PricedModel,
  { iofE2, spreadE2 }: CardTerms,
): Comparison {
  const compared = lines.map(({ text, cost, model }: InvoiceLine) => ({
    text,
    cost,
    charge: chargeFor(cost, { fxRateE4: rateE4, markupE4: (model ?? usual).markupE4 }),
  }))
  const sum = (kind: 'cost' | 'charge') => compared.reduce((all, each) => all + each[kind], 0n)
  const cost = sum('cost')
  const plain = chargeFor(cost, { fxRateE4: rateE4, markupE4: 10_000n })
  const card = (plain * (E2 + iofE2) * (E2 + spreadE2)) / (E2 * E2)
  return { lines: compared, cost, charge: sum('charge'), card }
}
