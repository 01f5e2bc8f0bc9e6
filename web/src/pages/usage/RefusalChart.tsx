import { axisTop } from '../../components/axis-top.ts'
import { counted, wholeNumber } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import { useChosenBar } from '../../lib/use-chosen-bar.ts'
import { refusalBars } from './refusal-bars.ts'
import type { Refusals } from './usage-queries.ts'
import { t } from '../../language/t.ts'

const LINES = [1, 0.5, 0]

interface Props {
  readonly refusals: Refusals
  readonly onChoose: (day: string) => void
}

/** Bars of days or hours, each a button: a day opens to its hours. */
export function RefusalChart({ refusals, onChoose }: Props) {
  const { chosen, onPointerLeave, eventsOf } = useChosenBar()
  const bars = refusalBars(refusals)
  // Even, so that the middle line is a whole number of calls, too.
  const top = 2 * Math.ceil(axisTop(Math.max(...bars.map((bar) => bar.refusals), 0)) / 2)
  const shown = bars.find(({ id }) => id === chosen)
  const isByDay = refusals.step === 'day'
  const textOf = (count: number): string => counted(count, t('chamada'), t('chamadas'))
  return (
    <div className="text-xs text-muted">
      <p aria-live="polite" className="mb-3 min-h-5 text-sm tabular-nums">
        {shown
          ? `${shown.text}: ${textOf(shown.refusals)}`
          : isByDay
            ? t('Clique num dia para ver as horas dele.')
            : t('Passe por uma hora para ver quantas foram.')}
      </p>
      <div className="flex gap-2">
        <div aria-hidden="true" className="relative mt-2 h-40 w-10 shrink-0 tabular-nums">
          {LINES.map((part) => (
            <span
              key={part}
              style={{ bottom: `${part * 100}%` }}
              className="absolute right-0 translate-y-1/2"
            >
              {wholeNumber(top * part)}
            </span>
          ))}
        </div>
        {/* A bar is wide enough for a finger: many of them scroll, from the newest at the right end. */}
        <div className="min-w-0 flex-1 overflow-x-auto [direction:rtl]">
          <div className="min-w-fit pt-2 [direction:ltr]">
            <div className="relative h-40">
              {LINES.map((part) => (
                <span
                  key={part}
                  aria-hidden="true"
                  style={{ bottom: `${part * 100}%` }}
                  className="absolute inset-x-0 border-t border-line"
                />
              ))}
              <ul
                aria-label={t('Chamadas com erro por parte do período')}
                className="relative flex h-full items-stretch"
                onPointerLeave={onPointerLeave}
              >
                {bars.map((bar) => (
                  <li key={bar.id} className="flex min-w-6 flex-1">
                    <button
                      type="button"
                      aria-label={`${bar.text}: ${textOf(bar.refusals)}`}
                      {...eventsOf(bar.id)}
                      {...(isByDay && { onClick: () => onChoose(bar.day) })}
                      className={classNames(
                        'flex min-w-0 flex-1 flex-col-reverse px-0.5',
                        chosen !== undefined && chosen !== bar.id && 'opacity-50',
                      )}
                    >
                      <span
                        style={{ height: `${(bar.refusals / top) * 100}%` }}
                        className={classNames(
                          'w-full shrink-0 rounded-t-sm bg-danger',
                          bar.refusals > 0 && 'min-h-0.5',
                        )}
                      />
                    </button>
                  </li>
                ))}
              </ul>
            </div>
            <div aria-hidden="true" className="mt-2 flex justify-between tabular-nums">
              {[bars.at(0), bars.at(Math.floor((bars.length - 1) / 2)), bars.at(-1)].map(
                (bar, at) => (
                  <span key={at}>{bar?.text}</span>
                ),
              )}
            </div>
          </div>
        </div>
      </div>
    </div>
  )
}
