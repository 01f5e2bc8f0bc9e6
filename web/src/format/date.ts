/** Formats dates in the customer's preferred time zone, not the browser's. */
import { language } from '../language/language.ts'

const DEFAULT_ZONE = 'America/Sao_Paulo'

let zone = DEFAULT_ZONE

export function setZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('pt-BR', { timeZone })
    zone = timeZone
  } catch {
    // This browser does not know the zone, so the default zone stays.
    zone = DEFAULT_ZONE
  }
}

/** 21/11/2026 14:05; in English Nov 21, 2026, 2:05 PM. */
export function dateTime(instant: string | Date): string {
  const text = format(instant, { dateStyle: shortDate(), timeStyle: 'short' })
  return language() === 'pt-BR' ? text.replace(',', '') : text
}

/** 21 de novembro de 2026 às 14:05:12: the long form of a date that a row shows in short form. */
export function longDateTime(instant: string | Date): string {
  return format(instant, { dateStyle: 'long', timeStyle: 'medium' })
}

/** 21/11/2026 */
export function date(instant: string | Date, timeZone = zone): string {
  return formatter({ dateStyle: shortDate(), timeZone }).format(new Date(instant))
}

/** In figures only where everybody reads the day first: 11/12/2026 is another day to many who read English. */
function shortDate(): 'short' | 'medium' {
  return language() === 'pt-BR' ? 'short' : 'medium'
}

/** 14:05 */
export function time(instant: string | Date): string {
  return format(instant, { timeStyle: 'short' })
}

/** A day without a time (YYYY-MM-DD), which no time zone may shift: 21 de nov. */
export function shortDay(day: string): string {
  return formatter({ day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(`${day.slice(0, 10)}T12:00:00Z`),
  )
}

/** 21 de novembro de 2026: the long form of a day without a time. */
export function longDay(day: string): string {
  return formatter({ dateStyle: 'long', timeZone: 'UTC' }).format(new Date(`${day}T12:00:00Z`))
}

/** A month (YYYY-MM), which no time zone may shift: novembro de 2026. */
export function monthName(month: string): string {
  return formatter({ month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-15T12:00:00Z`),
  )
}

/** Today in the customer's time zone, as YYYY-MM-DD. */
export function today(): string {
  return dayOf(new Date())
}

/** The day of an instant in the customer's time zone, as YYYY-MM-DD: the format of a date field. */
export function dayOf(instant: string | Date): string {
  return clockOf(new Date(instant)).slice(0, 10)
}

/** The last second of a day (YYYY-MM-DD) in the customer's time zone. */
export function endOfDay(day: string): Date {
  const wanted = Date.parse(`${day}T23:59:59Z`)
  // The offset of a zone changes: that of the first guess may be the one before the change.
  const guess = wanted - offsetOf(wanted)
  return new Date(wanted - offsetOf(guess))
}

/** In milliseconds, east positive. */
function offsetOf(instant: number): number {
  return Date.parse(`${clockOf(new Date(instant)).replace(' ', 'T')}Z`) - instant
}

/** 2026-11-21 14:05:12 */
function clockOf(instant: Date): string {
  return new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(instant)
}

function format(instant: string | Date, options: Intl.DateTimeFormatOptions): string {
  return formatter({ ...options, timeZone: zone }).format(new Date(instant))
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/**
 * Cached: creating a formatter takes a hundred times as long as formatting a date, and a list has many dates.
 */
function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language()} ${JSON.stringify(options)}`
  const known = formatters.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat(language(), options)
  formatters.set(key, made)
  return made
}
