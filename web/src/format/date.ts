/** Dates as people read them, in the customer's own zone (their preferences), not the browser's. */

const DEFAULT_ZONE = 'America/Sao_Paulo'

let zone = DEFAULT_ZONE

export function setZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('pt-BR', { timeZone })
    zone = timeZone
  } catch {
    // A zone that this browser does not know: what most customers have stands.
    zone = DEFAULT_ZONE
  }
}

/** 21/11/2026 14:05 */
export function dateTime(instant: string | Date): string {
  return format(instant, { dateStyle: 'short', timeStyle: 'short' }).replace(',', '')
}

/** 21 de novembro de 2026 às 14:05:12, as the long form of what a row shows shortly. */
export function longDateTime(instant: string | Date): string {
  return format(instant, { dateStyle: 'long', timeStyle: 'medium' })
}

/** 21/11/2026 */
export function date(instant: string | Date): string {
  return format(instant, { dateStyle: 'short' })
}

/** 14:05 */
export function time(instant: string | Date): string {
  return format(instant, { timeStyle: 'short' })
}

/** A day without a time (AAAA-MM-DD), which no zone may shift: 21 de nov. */
export function shortDay(day: string): string {
  return new Intl.DateTimeFormat('pt-BR', {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  }).format(new Date(`${day.slice(0, 10)}T12:00:00Z`))
}

/** Today in the customer's zone, as AAAA-MM-DD. */
export function today(now: Date = new Date()): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(now)
}

function format(instant: string | Date, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('pt-BR', { ...options, timeZone: zone }).format(new Date(instant))
}
