/**
 * The frame of a chart with one bar per day. Drawn by hand, because a chart library would weigh as much as the
 * whole first load. Screen readers and the keyboard get the same numbers in a table below it.
 */
import { useState, type ReactNode } from 'react'
import { axisBrl } from '../format/brl.ts'
import { shortDay } from '../format/date.ts'
import { classNames } from '../lib/class-names.ts'

const LINES = [1, 0.5, 0]

interface DayChartProps<Day> {
  readonly days: readonly Day[]
  /** In BRL, the value of the top line. */
  readonly top: number
  /** The height of the text line and of the bars. */
  readonly headClass: string
  readonly barsClass: string
  /** Rendered above the bars: the highlighted day, or undefined for none. */
  readonly renderHead: (day: Day | undefined) => ReactNode
  /** `isFaded`: another day is highlighted. */
  readonly renderBar: (day: Day, isFaded: boolean) => ReactNode
}

export function DayChart<Day extends { readonly day: string }>(props: DayChartProps<Day>) {
  const { days, top, headClass, barsClass, renderHead, renderBar } = props
  const [pointed, setPointed] = useState<number>()
  return (
    <div aria-hidden="true" className="text-xs text-muted">
      <p className={classNames('mb-2 text-sm tabular-nums', headClass)}>
        {renderHead(pointed === undefined ? undefined : days[pointed])}
      </p>
      <div className={classNames('relative pl-16', barsClass)}>
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
              className="flex min-w-0 flex-1 flex-col justify-end px-px sm:px-0.5"
            >
              {renderBar(day, pointed !== undefined && pointed !== place)}
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
