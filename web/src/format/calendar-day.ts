/** `2026-11-20` -> `20/11/2026`: a calendar day without a time zone. */
export function calendarDay(day: string): string {
  return day.split('-').toReversed().join('/')
}
