import { date, dayOf } from '../../format/date.ts'
import { percent } from '../../format/number.ts'
import type { MakerHealth } from './health-queries.ts'
import { t } from '../../language/t.ts'

const DAY_MS = 86_400_000
/** As `src/site/pages/status-page.ts` has it. */
const COLOURS = [
  { from: 99, name: 'fill-success' },
  { from: 95, name: 'fill-warning' },
  { from: 0, name: 'fill-danger' },
]

/** A bar for each of the last days, the newest at the right; grey without a call. */
export function UptimeBars(props: {
  readonly health: MakerHealth
  readonly days: number
  /** The end of the last day. */
  readonly now: number
}) {
  const { health, days, now } = props
  const known = new Map(health.by_day.map(({ day, uptime_percent }) => [day, uptime_percent]))
  const worst = health.by_day.toSorted((one, other) => one.uptime_percent - other.uptime_percent)[0]
  return (
    <svg
      role="img"
      viewBox={`0 0 ${days * 4 - 1} 36`}
      preserveAspectRatio="none"
      className="h-7 w-full min-w-56"
      aria-label={
        worst === undefined || worst.uptime_percent === 100
          ? t('Nenhum dia com falha')
          : t('O pior dia foi {day}, com {percent}', {
              day: date(`${worst.day}T12:00:00Z`),
              percent: percent(worst.uptime_percent),
            })
      }
    >
      {Array.from({ length: days }, (_, place) => {
        const day = dayOf(new Date(now - (days - 1 - place) * DAY_MS))
        const found = known.get(day)
        const colour = COLOURS.find(({ from }) => found !== undefined && found >= from)
        return (
          <rect
            key={day}
            x={place * 4}
            width={3}
            height={36}
            className={colour?.name ?? 'fill-line'}
          >
            <title>{`${date(`${day}T12:00:00Z`)}: ${found === undefined ? '–' : percent(found)}`}</title>
          </rect>
        )
      })}
    </svg>
  )
}
