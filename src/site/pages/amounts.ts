/** Amounts and counts as the pages write them. */
import {
  chargeFor,
  decimalE4,
  decimalUsd,
  type NanoBrl,
  type PicoUsd,
} from '../../platform/lib/money.ts'
import { brlText } from '../../platform/lib/brl-text.ts'
import type { Model } from '../../money/catalog/model.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'

/** Micro-USD per million tokens is pico-USD per token. */
const MILLION = 1_000_000n
const NANO_PER_CENTAVO = 10_000_000n
const SHORT = new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 1 })
const WHOLE = new Intl.NumberFormat('pt-BR')

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
  return `US$ ${WHOLE.format(BigInt(whole as string))},${fraction.padEnd(2, '0')}`
}

/** Writes a price of pico-USD per token as USD per million tokens. */
export function usdPerMillion(each: PicoUsd): string {
  return usdText(each * MILLION)
}

/** Writes `12500n` as `1,25×`. */
export function multiplierText(scaled: bigint): string {
  return `${decimalE4(scaled).replace('.', ',')}×`
}

/** Writes an exchange rate or a markup with all four decimals. */
export function rateText(scaled: bigint): string {
  const [whole, fraction = ''] = decimalE4(scaled).split('.')
  return `R$ ${whole},${fraction.padEnd(4, '0')}`
}

/** Converts a price of pico-USD per token to nano-BRL per million tokens, as a charge at this moment would be. */
export function brlPerMillion(each: PicoUsd, model: Model, fxRate: FxRate): NanoBrl {
  return chargeFor(each * MILLION, { fxRateE4: fxRate.rateE4, markupE4: model.markupE4 })
}

/** Writes `128000` as `128 mil`. */
export function shortCount(count: number): string {
  if (count >= 1_000_000) return `${SHORT.format(count / 1_000_000)} mi`
  return count >= 1_000 ? `${SHORT.format(count / 1_000)} mil` : WHOLE.format(count)
}

export function wholeCount(count: number): string {
  return WHOLE.format(count)
}

/** Writes a day in Brasília as `12/11/2026`. */
export function dayText(at: Date): string {
  return at.toLocaleDateString('pt-BR', { timeZone: 'America/Sao_Paulo' })
}
