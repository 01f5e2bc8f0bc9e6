const BRASILIA = 'America/Sao_Paulo'

/**
 * Returns the calendar day in Brasília, `YYYY-MM-DD`; the time zone data covers daylight saving time, which ended in
 * 2019.
 */
export function dayInBrasilia(at: Date): string {
  return at.toLocaleDateString('sv-SE', { timeZone: BRASILIA })
}

const DAY_MS = 86_400_000

/** Whether the text is a day of the calendar of this century, `YYYY-MM-DD`. */
export function isDay(text: unknown): text is string {
  return typeof text === 'string' && /^20\d\d-\d\d-\d\d$/.test(text) && addDays(text, 0) === text
}

/** Whether the day is over in UTC. */
export function isPast(day: string): boolean {
  return day < new Date().toISOString().slice(0, 10)
}

/** Returns the calendar day (YYYY-MM-DD) that many days later; a negative number of days goes back. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}
