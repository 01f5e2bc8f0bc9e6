import { addDays } from '../../../../src/platform/lib/days.ts'
import { axisTop } from '../../components/axis-top.ts'
import { axisBrl } from '../../format/brl.ts'
import { shortDay } from '../../format/date.ts'
import { classNames } from '../../lib/class-names.ts'
import { useChosenBar } from '../../lib/use-chosen-bar.ts'
import { amount } from './charge-words.ts'
import { colourOf, groupName } from './spend-words.ts'
import type { Grouping, Spend } from './usage-queries.ts'
import { t } from '../../language/t.ts'

const LINES = [1, 0.5, 0]

/**
 * Stacked bars, each a button, so that the keyboard reaches the figures of every part; the line above shows those of
 * the chosen one, in a place that is kept for it.
 */
export function SpendChart({ spend, by }: { readonly spend: Spend; readonly by: Grouping }) {
  const { chosen, onPointerLeave, eventsOf } = useChosenBar()
  const bars = barsOf(spend)
  const top = axisTop(Math.max(...bars.map(({ part }) => part?.cost_billed_brl ?? 0)))
  const shown = bars.find(({ day }) => day === chosen)
  return (
    <div className="text-xs text-muted">
      <p aria-live="polite" className="mb-3 min-h-10 text-sm tabular-nums">
        {shown ? (
          <Reading bar={shown} spend={spend} by={by} />
        ) : (
          t('Passe por uma barra para ver de que ela é feita.')
        )}
      </p>
      <div className="relative h-56 pl-16">
        {LINES.map((part) => (
          <div
            key={part}
            aria-hidden="true"
            style={{ bottom: `${part * 100}%` }}
            className="absolute inset-x-0 flex translate-y-1/2 items-center gap-2"
          >
            <span className="w-14 shrink-0 text-right whitespace-nowrap tabular-nums">
              {axisBrl(top * part)}
            </span>
            <span className="flex-1 border-t border-line" />
          </div>
        ))}
        <ul
          aria-label={t('Gasto por parte do período')}
          className="relative flex h-full items-stretch"
          onPointerLeave={onPointerLeave}
        >
          {bars.map((bar) => (
            <li key={bar.day} className="flex min-w-0 flex-1">
              <button
                type="button"
                aria-label={`${partName(bar.day, spend)}: ${amount(bar.part?.cost_billed_brl ?? 0)}`}
                {...eventsOf(bar.day)}
                className={classNames(
                  'flex min-w-0 flex-1 flex-col-reverse px-px sm:px-0.5',
                  chosen !== undefined && chosen !== bar.day && 'opacity-50',
                )}
              >
                {bar.part?.costs_brl.map((cost, place) => (
                  <span
                    key={place}
                    style={{ height: `${(Math.max(0, cost) / top) * 100}%` }}
                    className={classNames(
                      'w-full shrink-0',
                      colourOf(spend.groups[place] ?? { id: null }, place),
                    )}
                  />
                ))}
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div aria-hidden="true" className="mt-2 flex justify-between pl-16 tabular-nums">
        {[bars.at(0), bars.at(Math.floor((bars.length - 1) / 2)), bars.at(-1)].map((bar, at) => (
          <span key={at}>{bar && shortDay(bar.day)}</span>
        ))}
      </div>
    </div>
  )
}

interface Bar {
  readonly day: string
  readonly part: Spend['parts'][number] | undefined
}

function Reading({ bar, spend, by }: { bar: Bar; spend: Spend; by: Grouping }) {
  const parts = spend.groups
    .map((group, place) => ({ group, place, cost: bar.part?.costs_brl[place] ?? 0 }))
    .filter(({ cost }) => cost !== 0)
  return (
    <>
      <strong className="text-ink">
        {partName(bar.day, spend)}: {amount(bar.part?.cost_billed_brl ?? 0)}
      </strong>{' '}
      {parts.map(({ group, place, cost }) => (
        <span key={place} className="mr-3 inline-flex items-center gap-1.5">
          <span className={`size-2 rounded-full ${colourOf(group, place)}`} aria-hidden="true" />
          {groupName(group, by)} {amount(cost)}
        </span>
      ))}
    </>
  )
}

/** Every part of the period, also those without usage, which the API leaves out. */
function barsOf({ from, to, step, parts }: Spend): readonly Bar[] {
  const byDay = new Map(parts.map((part) => [part.starts_on, part]))
  const bars: Bar[] = []
  for (let day = from; day <= to; day = nextStart(day, step))
    bars.push({ day, part: byDay.get(day) })
  return bars
}

/** Weeks begin on Mondays, months on their first day. */
function nextStart(day: string, step: Spend['step']): string {
  if (step === 'day') return addDays(day, 1)
  if (step === 'week') {
    const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7
    return addDays(day, 7 - weekday)
  }
  const [year = 0, month = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10)
}

function partName(day: string, { step }: Spend): string {
  if (step === 'day') return shortDay(day)
  return step === 'week'
    ? t('Semana de {day}', { day: shortDay(day) })
    : t('Mês de {day}', { day: shortDay(day) })
}
