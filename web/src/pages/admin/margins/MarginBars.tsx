/**
 * A bar for each day: what was billed, cut into what it cost and what is left. Screen readers and the keyboard have
 * the same numbers in the table below it.
 */
import { useState } from 'react'
import { axisBrl, readableBrl } from '../../../format/brl.ts'
import { shortDay } from '../../../format/date.ts'
import { percent } from '../../../format/number.ts'
import { classNames } from '../../../lib/class-names.ts'
import { axisTop } from '../../home/axis-top.ts'
import type { DayMargin } from './margin-queries.ts'

const LINES = [1, 0.5, 0]

export function MarginBars({ days }: { readonly days: readonly DayMargin[] }) {
  const [pointed, setPointed] = useState<number>()
  const top = axisTop(
    Math.max(...days.map((day) => Math.max(day.billed_brl, day.cost_upstream_brl))),
  )
  const shown = pointed === undefined ? undefined : days[pointed]
  return (
    <div aria-hidden="true" className="text-xs text-muted">
      <p className="mb-2 min-h-5 text-sm tabular-nums">
        {shown ? <Told day={shown} /> : <Legend />}
      </p>
      <div className="relative h-56 pl-16">
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
          {days.map((day, place) => (
            <div
              key={day.day}
              onPointerEnter={() => setPointed(place)}
              onPointerDown={() => setPointed(place)}
              className={classNames(
                'flex min-w-0 flex-1 flex-col justify-end px-px sm:px-0.5',
                pointed !== undefined && pointed !== place && 'opacity-50',
              )}
            >
              <span
                style={{ height: `${(Math.max(day.margin_brl, 0) / top) * 100}%` }}
                className={classNames(
                  'block w-full rounded-t-sm bg-accent',
                  day.margin_brl > 0 && 'min-h-0.5',
                )}
              />
              <span
                style={{ height: `${(day.cost_upstream_brl / top) * 100}%` }}
                className={classNames(
                  'block w-full bg-line-strong',
                  day.cost_upstream_brl > 0 && 'min-h-0.5',
                )}
              />
            </div>
          ))}
        </div>
      </div>
      <div className="mt-2 flex justify-between pl-16 tabular-nums">
        {[0, Math.floor((days.length - 1) / 2), days.length - 1].map((place, at) => (
          <span key={at}>{shortDay(days[place]?.day ?? '')}</span>
        ))}
      </div>
    </div>
  )
}

function Told({ day }: { readonly day: DayMargin }) {
  return (
    <>
      <span className="font-medium text-ink">{shortDay(day.day)}</span>: margem{' '}
      {readableBrl(day.margin_brl)}
      {day.margin_percent !== null && ` (${percent(day.margin_percent)})`}, de{' '}
      {readableBrl(day.billed_brl)} cobrados
    </>
  )
}

function Legend() {
  return (
    <span className="flex flex-wrap gap-x-5">
      <span className="inline-flex items-center gap-2">
        <span className="size-3 rounded-sm bg-accent" /> Margem
      </span>
      <span className="inline-flex items-center gap-2">
        <span className="size-3 rounded-sm bg-line-strong" /> Custo
      </span>
    </span>
  )
}
