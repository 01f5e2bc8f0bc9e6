import { decimalBrl, type NanoBrl } from './money.ts'

const BRL = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})

/** Writes `1234500000000n` as `R$ 1.234,50`, with a plain space and every digit that is not zero. */
export function brlText(nano: NanoBrl): string {
  return BRL.format(decimalBrl(nano) as `${number}`).replace(/\s/g, ' ')
}

/** Returns the price of a thousand tokens, rounded half up to the nano-BRL; null without tokens. */
export function brlPer1kTokens(
  costNanoBrl: NanoBrl,
  used: { readonly promptTokens: number; readonly completionTokens: number },
): NanoBrl | null {
  const tokens = BigInt(used.promptTokens) + BigInt(used.completionTokens)
  return tokens === 0n ? null : (costNanoBrl * 2_000n + tokens) / (tokens * 2n)
}
