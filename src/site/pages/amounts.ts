/** Amounts and counts as the pages write them. */
import {
  chargeFor,
  decimalE4,
  decimalUsd,
  type NanoBrl,
  type PicoUsd,
} from '../../platform/lib/money.ts'
import { brlText } from '../../platform/lib/brl-text.ts'
import { language } from '../../platform/lib/language.ts'
import type { Model } from '../../money/catalog/model.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'

/** Micro-USD per million tokens is pico-USD per token. */
const MILLION = 1_000_000n
const NANO_PER_CENTAVO = 10_000_000n
const SHORT = new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 1 })
const SHORT_ENGLISH = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumFractionDigits: 1,
})
const WHOLE = {
  'pt-BR': new Intl.NumberFormat('pt-BR'),
  'en-US': new Intl.NumberFormat('en-US'),
}

/**
 * Writes an amount rounded to centavos. Amounts below one centavo keep three significant digits, so that no price reads
 * as zero.
 */
export function roundedBrl(nano: NanoBrl): string {
  const unit =
    nano === 0n || nano >= NANO_PER_CENTAVO
      ? NANO_PER_CENTAVO
      : 10n ** BigInt(Math.max(nano.toString().length - 3, 0))
  return brlText(((nano + unit / 2n) / unit) * unit)
}

export function usdText(pico: PicoUsd): string {
  const [whole, fraction = ''] = decimalUsd(pico).split('.')
  const first = WHOLE[language()].format(BigInt(whole as string))
  return `US$ ${first}${point()}${fraction.padEnd(2, '0')}`
}

/** Writes a price of pico-USD per token as USD per million tokens. */
export function usdPerMillion(each: PicoUsd): string {
  return usdText(each * MILLION)
}

/** Writes `12500n` as `1,25×`. */
export function multiplierText(scaled: bigint): string {
  return `${decimalE4(scaled).replace('.', point())}×`
}

/** Writes an exchange rate or a markup with all four decimals. */
export function rateText(scaled: bigint): string {
  const [whole, fraction = ''] = decimalE4(scaled).split('.')
  return `R$ ${whole}${point()}${fraction.padEnd(4, '0')}`
}

/** Converts a price of pico-USD per token to nano-BRL per million tokens, as a charge at this moment would be. */
export function brlPerMillion(each: PicoUsd, model: Model, fxRate: FxRate): NanoBrl {
  return chargeFor(each * MILLION, { fxRateE4: fxRate.rateE4, markupE4: model.markupE4 })
}

/** Writes `128000` as `128 mil`, or as `128K`. */
export function shortCount(count: number): string {
  if (language() === 'en-US') return SHORT_ENGLISH.format(count)
  if (count >= 1_000_000) return `${SHORT.format(count / 1_000_000)} mi`
  return count >= 1_000 ? `${SHORT.format(count / 1_000)} mil` : wholeCount(count)
}

export function wholeCount(count: number): string {
  return WHOLE[language()].format(count)
}

/** Writes a day in Brasília as `12/11/2026`, or as `Nov 12, 2026`. */
export function dayText(at: Date): string {
  return language() === 'pt-BR'
    ? at.toLocaleDateString('pt-BR', { timeZone: 'America/Sao_Paulo' })
    : at.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'America/Sao_Paulo' })
}

/** A day (YYYY-MM-DD) in words: `14 de janeiro de 2027`. */
export function longDayText(day: string): string {
  const at = new Date(`${day}T12:00:00Z`)
  return at.toLocaleDateString(language(), { dateStyle: 'long', timeZone: 'America/Sao_Paulo' })
}

/** What stands before the decimals. */
export function point(): string {
  return language() === 'pt-BR' ? ',' : '.'
}
