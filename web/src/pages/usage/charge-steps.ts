/** Recomputes a charge from its inputs, so that the customer can verify the total. */
import { exactDecimal, scaledBy } from '../../format/exact-decimal.ts'

export interface ChargeNumbers {
  readonly cost_upstream_usd: number
  readonly fx_rate: number
  readonly markup_multiplier: number
  readonly cost_billed_brl: number
}

export interface ChargeSteps {
  /** All with every digit, in Brazilian notation. */
  readonly costUsd: string
  readonly rate: string
  readonly markup: string
  readonly billedBrl: string
  /** The cost in BRL before the markup. */
  readonly costBrl: string
  /** Whether cost x rate x markup, rounded half up to nine decimals, equals the charge. */
  readonly isAsCharged: boolean
}

const USD_DECIMALS = 12
const BRL_DECIMALS = 9
const RATE_DECIMALS = 4
/** pico-USD x (rate x 10^4) x (markup x 10^4) over this is nano-BRL. */
const CHARGE_DIVISOR = 10n ** 11n

export function chargeSteps(charge: ChargeNumbers): ChargeSteps {
  const cost = scaledBy(charge.cost_upstream_usd, USD_DECIMALS)
  const rate = scaledBy(charge.fx_rate, RATE_DECIMALS)
  const markup = scaledBy(charge.markup_multiplier, RATE_DECIMALS)
  const billed = scaledBy(charge.cost_billed_brl, BRL_DECIMALS)
  // A reversal is the exact negative of the reversed charge, rounding included.
  const sign = cost < 0n ? -1n : 1n
  const computed = sign * ((sign * cost * rate * markup + CHARGE_DIVISOR / 2n) / CHARGE_DIVISOR)
  return {
    costUsd: exactDecimal(cost, USD_DECIMALS, 2),
    rate: exactDecimal(rate, RATE_DECIMALS, 2),
    markup: exactDecimal(markup, RATE_DECIMALS, 2),
    costBrl: exactDecimal(cost * rate, USD_DECIMALS + RATE_DECIMALS, 2),
    billedBrl: exactDecimal(billed, BRL_DECIMALS, 2),
    isAsCharged: computed === billed,
  }
}
