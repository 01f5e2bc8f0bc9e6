import { language } from './language.ts'
import { decimalBrl, type NanoBrl } from './money.ts'

const DIGITS = { minimumFractionDigits: 2, maximumFractionDigits: 9 }
const PORTUGUESE = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL', ...DIGITS })
const ENGLISH = new Intl.NumberFormat('en-US', DIGITS)

/** Writes `1234500000000n` as `R$ 1.234,50`, with a plain space and every digit that is not zero; in English `R$ 1,234.50`. */
export function brlText(nano: NanoBrl): string {
  const amount = decimalBrl(nano) as `${number}`
  if (language() === 'pt-BR') return PORTUGUESE.format(amount).replace(/\s/g, ' ')
  return ENGLISH.format(amount).replace(/\d/, 'R$ $&')
}

/** Returns the price of a thousand tokens, rounded half up to the nano-BRL; null without tokens. */
export function brlPer1kTokens(
  costNanoBrl: NanoBrl,
  used: { readonly promptTokens: number; readonly completionTokens: number },
): NanoBrl | null {
  const tokens = BigInt(used.promptTokens) + BigInt(used.completionTokens)
  return tokens === 0n ? null : (costNanoBrl * 2_000n + tokens) / (tokens * 2n)
}
