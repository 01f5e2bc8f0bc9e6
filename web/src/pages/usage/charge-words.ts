import { wholeNumber } from '../../format/number.ts'
import { exactDecimal, scaledBy } from '../../format/exact-decimal.ts'
import { unitWords } from './token-words.ts'
import type { Charge } from './usage-queries.ts'
import { t } from '../../language/t.ts'

/** A call often costs less than a cent: below ten cents an amount has three significant digits, so that amounts beside each other compare. */
export function amount(brl: number): string {
  if (brl < 0) return `\u2212${amount(-brl)}`
  const scaled = scaledBy(brl, 9)
  const isCents = scaled === 0n || scaled >= 100_000_000n
  if (isCents) return `R$\u00a0${exactDecimal((scaled + 5_000_000n) / 10_000_000n, 2, 2)}`
  // Three significant digits.
  const drop = scaled.toString().length - 3
  if (drop <= 0) return `R$\u00a0${exactDecimal(scaled, 9)}`
  const unit = 10n ** BigInt(drop)
  return `R$\u00a0${exactDecimal(((scaled + unit / 2n) / unit) * unit, 9, 2)}`
}

/** `1.200 → 340 tokens`, or the other counted units. */
export function tokensText({ prompt_tokens, completion_tokens, units }: Charge): string {
  const others = Object.entries(units ?? {})
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${wholeNumber(count)} ${unitWords(unit, count)}`)
  const hasTokens = (prompt_tokens ?? 0) + (completion_tokens ?? 0) > 0
  if (!hasTokens && others.length > 0) return others.join(', ')
  if (prompt_tokens === null && completion_tokens === null) return '–'
  return t('{wholeNumber} → {wholeNumber2} tokens', {
    wholeNumber: wholeNumber(prompt_tokens ?? 0),
    wholeNumber2: wholeNumber(completion_tokens ?? 0),
  })
}
