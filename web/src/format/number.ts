import { language } from '../language/language.ts'
import { perLanguage } from '../language/per-language.ts'

const WHOLE = perLanguage(() => new Intl.NumberFormat(language(), { maximumFractionDigits: 0 }))
const PERCENT = perLanguage(
  () => new Intl.NumberFormat(language(), { style: 'percent', maximumFractionDigits: 1 }),
)
const SHORT = perLanguage(
  () => new Intl.NumberFormat(language(), { notation: 'compact', maximumFractionDigits: 1 }),
)

export function wholeNumber(value: number): string {
  return WHOLE().format(value)
}

/** 12.5 -> 12,5%: the API returns percentages from 0 to 100. */
export function percent(ofHundred: number): string {
  return PERCENT().format(ofHundred / 100)
}

/** 1234567 -> 1,2 mi. */
export function shortNumber(value: number): string {
  return SHORT().format(value)
}

/** 1 dia, 2 dias. */
export function counted(count: number, one: string, many: string): string {
  return `${WHOLE().format(count)} ${count === 1 ? one : many}`
}

const MEGABYTES = perLanguage(
  () =>
    new Intl.NumberFormat(language(), {
      style: 'unit',
      unit: 'megabyte',
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    }),
)

/** 3100000 -> 3,1 MB. */
export function megabytes(bytes: number): string {
  return MEGABYTES().format(bytes / 1e6)
}
