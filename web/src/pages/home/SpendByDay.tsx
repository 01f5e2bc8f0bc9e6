import { BarChart3 } from 'lucide-react'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Table } from '../../components/Table.tsx'
import { readableBrl } from '../../format/brl.ts'
import { shortDay } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { BarsByDay } from './BarsByDay.tsx'
import type { DayUsage } from './compare-periods.ts'

export function SpendByDay({ days }: { days: readonly DayUsage[] }) {
  const isUsed = days.some(({ requests }) => requests > 0)
  return (
    <Card title="Gasto por dia">
      {isUsed ? (
        <>
          <BarsByDay days={days} />
          <details className="mt-4 text-sm">
            <summary className="inline-flex min-h-11 items-center font-medium text-accent underline-offset-4 hover:underline md:min-h-8">
              Ver os números
            </summary>
            <Table
              caption="Gasto e chamadas de cada dia"
              rows={days.toReversed()}
              rowKey={({ day }) => day}
              columns={[
                { key: 'day', header: 'Dia', cell: ({ day }) => shortDay(day) },
                {
                  key: 'requests',
                  header: 'Chamadas',
                  isNumeric: true,
                  cell: ({ requests }) => wholeNumber(requests),
                },
                {
                  key: 'spent',
                  header: 'Gasto',
                  isNumeric: true,
                  cell: ({ cost_billed_brl }) => readableBrl(cost_billed_brl),
                },
              ]}
            />
          </details>
        </>
      ) : (
        <EmptyState icon={<BarChart3 className="size-6" />} title="Nenhum gasto neste período">
          Assim que você fizer chamadas, o gasto de cada dia aparece aqui.
        </EmptyState>
      )}
    </Card>
  )
}
