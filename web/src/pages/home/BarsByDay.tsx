import { axisTop } from '../../components/axis-top.ts'
import { DayChart } from '../../components/DayChart.tsx'
import { readableBrl } from '../../format/brl.ts'
import { shortDay } from '../../format/date.ts'
import { counted } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import type { DayUsage } from './compare-periods.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function BarsByDay({ days }: { days: readonly DayUsage[] }) {
  const top = axisTop(Math.max(...days.map(({ cost_billed_brl }) => cost_billed_brl)))
  return (
    <DayChart
      days={days}
      top={top}
      headClass="h-5"
      barsClass="h-52"
      renderHead={(day) =>
        day && (
          <>
            <Trans
              id="{span}: {costBilledBrl} em {requests}"
              values={{
                span: <span className="font-medium text-ink">{shortDay(day.day)}</span>,
                costBilledBrl: readableBrl(day.cost_billed_brl),
                requests: counted(day.requests, t('chamada'), t('chamadas')),
              }}
            />
          </>
        )
      }
      renderBar={({ cost_billed_brl }, isFaded) => (
        <span
          style={{ height: `${(cost_billed_brl / top) * 100}%` }}
          className={classNames(
            'block w-full rounded-t-sm',
            cost_billed_brl > 0 && 'min-h-0.5',
            isFaded ? 'bg-accent/50' : 'bg-accent',
          )}
        />
      )}
    />
  )
}
