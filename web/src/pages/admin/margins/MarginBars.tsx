/** Each day's billed amount, split into cost and margin. */
import { axisTop } from '../../../components/axis-top.ts'
import { DayChart } from '../../../components/DayChart.tsx'
import { readableBrl } from '../../../format/brl.ts'
import { shortDay } from '../../../format/date.ts'
import { percent } from '../../../format/number.ts'
import { classNames } from '../../../lib/class-names.ts'
import type { DayMargin } from './margin-queries.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function MarginBars({ days }: { readonly days: readonly DayMargin[] }) {
  const top = axisTop(
    Math.max(...days.map((day) => Math.max(day.billed_brl, day.cost_upstream_brl))),
  )
  return (
    <DayChart
      days={days}
      top={top}
      headClass="min-h-5"
      barsClass="h-56"
      renderHead={(day) => (day ? <DaySums day={day} /> : <Legend />)}
      renderBar={(day, isFaded) => (
        <>
          <span
            style={{ height: `${(Math.max(day.margin_brl, 0) / top) * 100}%` }}
            className={classNames(
              'block w-full rounded-t-sm bg-accent',
              day.margin_brl > 0 && 'min-h-0.5',
              isFaded && 'opacity-50',
            )}
          />
          <span
            style={{ height: `${(day.cost_upstream_brl / top) * 100}%` }}
            className={classNames(
              'block w-full bg-line-strong',
              day.cost_upstream_brl > 0 && 'min-h-0.5',
              isFaded && 'opacity-50',
            )}
          />
        </>
      )}
    />
  )
}

function DaySums({ day }: { readonly day: DayMargin }) {
  return (
    <>
      <Trans
        id="{span}: margem {marginBrl}"
        values={{
          span: <span className="font-medium text-ink">{shortDay(day.day)}</span>,
          marginBrl: readableBrl(day.margin_brl),
        }}
      />
      <Trans
        id="{marginPercent}, de {billedBrl} cobrados"
        values={{
          marginPercent: day.margin_percent !== null && ` (${percent(day.margin_percent)})`,
          billedBrl: readableBrl(day.billed_brl),
        }}
      />
    </>
  )
}

function Legend() {
  return (
    <span className="flex flex-wrap gap-x-5">
      <span className="inline-flex items-center gap-2">
        <span className="size-3 rounded-sm bg-accent" />
        {t(' Margem')}
      </span>
      <span className="inline-flex items-center gap-2">
        <span className="size-3 rounded-sm bg-line-strong" />
        {t(' Custo')}
      </span>
    </span>
  )
}
