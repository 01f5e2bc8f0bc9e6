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
