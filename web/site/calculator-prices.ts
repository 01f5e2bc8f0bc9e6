/** The prices in the page, as `src/site/pages/invoice-calculator.ts` writes them; amounts are whole numbers as text. */
export interface WrittenPrices {
  /** BRL per USD, times 10^4. */
  readonly rate: string
  readonly models: readonly WrittenModel[]
}

interface WrittenModel {
  readonly id: string
  readonly name: string
  /** Times 10^4. */
  readonly markup: string
  /** pico-USD per token. */
  readonly input: string
  readonly cached: string
  readonly output: string
}

export interface PricedModel {
  readonly id: string
  readonly name: string
  readonly markupE4: bigint
  readonly input: bigint
  readonly cached: bigint
  readonly output: bigint
}

export interface CalculatorPrices {
  readonly rateE4: bigint
  readonly models: readonly PricedModel[]
}

export function readPrices(written: WrittenPrices): CalculatorPrices {
  return {
    rateE4: BigInt(written.rate),
    models: written.models.map(({ id, name, markup, input, cached, output }) => ({
      id,
      name,
      markupE4: BigInt(markup),
      input: BigInt(input),
      cached: BigInt(cached),
      output: BigInt(output),
    })),
  }
}
