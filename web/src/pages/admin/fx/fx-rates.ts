import type { Answer } from '../../../api/client.ts'
import { exactDecimal, scaledBy } from '../../../format/exact-decimal.ts'

export type Rate = Answer<'get', '/fx-rates'>['fx_rates'][number]

export function rateWords(rate: number): string {
  return exactDecimal(scaledBy(rate, 4), 4, 4)
}
