const BRASILIA = 'America/Sao_Paulo'

/**
 * Returns the calendar day in Brasília, `YYYY-MM-DD`; the time zone data covers daylight saving time, which ended in
 * 2019.
 */
export function dayInBrasilia(at: Date): string {
  return at.toLocaleDateString('sv-SE', { timeZone: BRASILIA })
}
