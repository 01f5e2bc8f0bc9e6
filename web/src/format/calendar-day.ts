import { language } from '../language/language.ts'
import { date } from './date.ts'

/** `2026-11-20` -> `20/11/2026`, or `Nov 20, 2026`: a calendar day without a time zone. */
export function calendarDay(day: string): string {
  if (language() === 'pt-BR') return day.split('-').toReversed().join('/')
  return date(`${day.slice(0, 10)}T12:00:00Z`, 'UTC')
}
