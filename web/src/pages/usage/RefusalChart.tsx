import { useState } from 'react'
import { axisTop } from '../../components/axis-top.ts'
import { counted, wholeNumber } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
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
  const [pointed, setPointed] = useState<string>()
  const bars = refusalBars(refusals)
  const top = Math.max(2, axisTop(Math.max(...bars.map((bar) => bar.refusals), 0)))
  const shown = bars.find(({ text }) => text === pointed)
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
      <div className="relative h-40 pl-12">
        {LINES.map((part) => (
          <div
            key={part}
            aria-hidden="true"
            style={{ bottom: `${part * 100}%` }}
            className="absolute inset-x-0 flex translate-y-1/2 items-center gap-2"
          >
            <span className="w-10 shrink-0 text-right whitespace-nowrap tabular-nums">
              {wholeNumber(top * part)}
            </span>
            <span className="flex-1 border-t border-line" />
          </div>
        ))}
        <ul
          aria-label={t('Chamadas com erro por parte do período')}
          className="relative flex h-full items-stretch"
          onPointerLeave={() => setPointed(undefined)}
        >
          {bars.map((bar) => (
            <li key={bar.text} className="flex min-w-0 flex-1">
              <button
                type="button"
                aria-label={`${bar.text}: ${textOf(bar.refusals)}`}
                onPointerEnter={() => setPointed(bar.text)}
                onFocus={() => setPointed(bar.text)}
                onBlur={() => setPointed(undefined)}
                onClick={() => (isByDay ? onChoose(bar.day) : setPointed(bar.text))}
                className={classNames(
                  'flex min-w-0 flex-1 flex-col-reverse px-px sm:px-0.5',
                  pointed !== undefined && pointed !== bar.text && 'opacity-50',
                )}
              >
                <span
                  style={{ height: `${(bar.refusals / top) * 100}%` }}
                  className={classNames(
                    'w-full shrink-0 bg-danger',
                    bar.refusals > 0 && 'min-h-0.5',
                  )}
                />
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div aria-hidden="true" className="mt-2 flex justify-between pl-12 tabular-nums">
        {[bars.at(0), bars.at(Math.floor((bars.length - 1) / 2)), bars.at(-1)].map((bar, at) => (
          <span key={at}>{bar?.text}</span>
        ))}
      </div>
    </div>
  )
}
