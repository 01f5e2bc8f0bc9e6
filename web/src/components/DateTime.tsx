import { date, dateTime, longDateTime } from '../format/date.ts'

interface DateTimeProps {
  /** ISO 8601, as the API returns it. */
  instant: string
  isDateOnly?: boolean
}

export function DateTime({ instant, isDateOnly = false }: DateTimeProps) {
  return (
    <time
      dateTime={instant}
      title={longDateTime(instant)}
      className="whitespace-nowrap tabular-nums"
    >
      {isDateOnly ? date(instant) : dateTime(instant)}
    </time>
  )
}
