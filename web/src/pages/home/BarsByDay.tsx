/**
 * A bar for each day. Drawn by hand: a library of charts would weigh as much as the whole first load. Screen
 * readers and the keyboard have the same numbers in the table below it.
 */
import { useState } from 'react'
import { axisTop } from './axis-top.ts'
import { axisBrl, readableBrl } from '../../format/brl.ts'
import { shortDay } from '../../format/date.ts'
import { counted } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import type { DayUsage } from './compare-periods.ts'

const LINES = [1, 0.5, 0]

export function BarsByDay({ days }: { days: readonly DayUsage[] }) {
  const [pointed, setPointed] = useState<number>()
  const top = axisTop(Math.max(...days.map(({ cost_billed_brl }) => cost_billed_brl)))
  const shown = pointed === undefined ? undefined : days[pointed]
  return (
    <div aria-hidden="true" className="text-xs text-muted">
      <p className="mb-2 h-5 text-sm tabular-nums">
        {shown && (
          <>
            <span className="font-medium text-ink">{shortDay(shown.day)}</span>:{' '}
            {readableBrl(shown.cost_billed_brl)} em {counted(shown.requests, 'chamada', 'chamadas')}
          </>
        )}
      </p>
      <div className="relative h-52 pl-16">
        {LINES.map((part) => (
          <div
            key={part}
            style={{ bottom: `${part * 100}%` }}
            className="absolute inset-x-0 flex translate-y-1/2 items-center gap-2"
          >
            <span className="w-14 shrink-0 text-right whitespace-nowrap tabular-nums">
              {axisBrl(top * part)}
            </span>
            <span className="flex-1 border-t border-line" />
          </div>
        ))}
        <div
          className="relative flex h-full items-stretch"
          onPointerLeave={() => setPointed(undefined)}
        >
          {days.map(({ day, cost_billed_brl }, place) => (
            <div
              key={day}
              onPointerEnter={() => setPointed(place)}
              onPointerDown={() => setPointed(place)}
              className="flex min-w-0 flex-1 items-end px-px sm:px-0.5"
            >
              <span
                style={{ height: `${(cost_billed_brl / top) * 100}%` }}
                className={classNames(
                  'block w-full rounded-t-sm',
                  cost_billed_brl > 0 && 'min-h-0.5',
                  pointed === undefined || pointed === place ? 'bg-accent' : 'bg-accent/50',
                )}
              />
            </div>
          ))}
        </div>
      </div>
      <div className="mt-2 flex justify-between pl-16 tabular-nums">
        {[0, Math.floor((days.length - 1) / 2), days.length - 1].map((place) => (
          <span key={place}>{shortDay(days[place]?.day ?? '')}</span>
        ))}
      </div>
    </div>
  )
}
