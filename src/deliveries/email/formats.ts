/** Formats amounts and times as the dashboard does in the language that is being written. */
import { language, type Language } from '../../platform/lib/language.ts'

const AMOUNT = { style: 'currency', currency: 'BRL' } as const
const EXACT = { ...AMOUNT, minimumFractionDigits: 2, maximumFractionDigits: 9 } as const
const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?$/
/** More than zero, but less than a centavo. */
const BELOW_A_CENT = /^-?0+\.00\d*[1-9]/
const DEFAULT_TIMEZONE = 'America/Sao_Paulo'

/**
 * Writes `"1234.5"` as `R$ 1.234,50`, with a no-break space. It is rounded to the centavo, except amounts below one:
 * they keep all their digits, so that spent money never reads as zero. Undefined for text that is no decimal.
 */
export function formatBrl(decimal: string): string | undefined {
  if (!DECIMAL.test(decimal)) return undefined
  // Formatting the text keeps every digit; a double would not.
  return writeBrl(BELOW_A_CENT.test(decimal) ? EXACT : AMOUNT, decimal)
}

/** Writes an amount with all its digits, so that lines add up to their total. */
export function formatExactBrl(decimal: string): string {
  return writeBrl(EXACT, decimal)
}

/** The sign is that of Brazil in every language: `R$ 1,234.50`. */
function writeBrl(options: Intl.NumberFormatOptions, decimal: string): string {
  return numbers(options)
    .formatToParts(decimal as `${number}`)
    .map(({ type, value }) => (type === 'currency' ? 'R$' : value))
    .join('')
    .replace(/R\$\s*/, 'R$\u00a0')
}

export function formatCount(count: number): string {
  return numbers({}).format(count)
}

/** Writes a time as `31/12/2026 23:59` in the given time zone, or as `Dec 31, 2026, 11:59 PM`. */
export function formatTime(at: Date, timezone: string): string {
  const text = timeFormat(timezone).format(at)
  return language() === 'pt-BR' ? text.replace(',', '') : text.replaceAll('\u202f', ' ')
}

/** Writes `2026-12-31` as `31/12/2026`, or as `Dec 31, 2026`; undefined for anything else. */
export function formatDay(day: string): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (!match) return undefined
  if (language() === 'pt-BR') return `${match[3]}/${match[2]}/${match[1]}`
  const at = new Date(`${day}T12:00:00Z`)
  return Number.isNaN(at.getTime()) ? undefined : DAY.format(at)
}

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })

const FIELDS: Readonly<Record<Language, Intl.DateTimeFormatOptions>> = {
  'pt-BR': {
    day: '2-digit',
    month: '2-digit',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  },
  'en-US': { dateStyle: 'medium', timeStyle: 'short' },
}

function timeFormat(timezone: string): Intl.DateTimeFormat {
  const fields = FIELDS[language()]
  try {
    return new Intl.DateTimeFormat(language(), { ...fields, timeZone: timezone })
  } catch {
    // PostgreSQL may know a time zone that Node.js does not.
    return new Intl.DateTimeFormat(language(), { ...fields, timeZone: DEFAULT_TIMEZONE })
  }
}

const FORMATS = new Map<string, Intl.NumberFormat>()

/** Cached: creating a formatter takes a hundred times as long as formatting a number. */
function numbers(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language()} ${options.maximumFractionDigits ?? options.style}`
  const known = FORMATS.get(key)
  if (known) return known
  const made = new Intl.NumberFormat(language(), options)
  FORMATS.set(key, made)
  return made
}
