import { language } from '../language/language.ts'
import { perLanguage } from '../language/per-language.ts'

const SIGNS = { BRL: 'R$', USD: 'US$' } as const

type MoneyOptions = Omit<Intl.NumberFormatOptions, 'style' | 'currency'>

/** With the sign of the currency as Brazilians write it, before a space, in every language: `R$ 1,234.56` in English. */
export function moneyFormat(
  currency: keyof typeof SIGNS,
  options: MoneyOptions = {},
): (amount: number) => string {
  const formatter = perLanguage(
    () => new Intl.NumberFormat(language(), { ...options, style: 'currency', currency }),
  )
  return (amount) => {
    if (language() === 'pt-BR') return formatter().format(amount)
    return formatter()
      .formatToParts(amount)
      .map(({ type, value }) => (type === 'currency' ? `${SIGNS[currency]}\u00a0` : value))
      .join('')
  }
}
