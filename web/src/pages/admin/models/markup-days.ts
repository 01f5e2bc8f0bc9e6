/** Markup changes begin at midnight in Brasília, whatever the operator's time zone. */

const DAY_MS = 86_400_000
/** No daylight saving time since 2019. */
const BRASILIA = '-03:00'

/** The first day whose midnight is at least `noticeDays` days away, as YYYY-MM-DD. */
export function firstDay(noticeDays: number, now: Date = new Date()): string {
  return dayOf(new Date(now.getTime() + (noticeDays + 1) * DAY_MS).toISOString())
}

export function startOf(day: string): string {
  return new Date(`${day}T00:00:00${BRASILIA}`).toISOString()
}

/** The day of an instant in Brasília. */
export function dayOf(instant: string): string {
  return new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'America/Sao_Paulo',
    dateStyle: 'short',
  }).format(new Date(instant))
}
