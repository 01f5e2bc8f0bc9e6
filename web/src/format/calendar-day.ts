/** `2026-11-20` -> `20/11/2026`: a day of the calendar, in no time zone. */
export function calendarDay(day: string): string {
  return day.split('-').toReversed().join('/')
}
