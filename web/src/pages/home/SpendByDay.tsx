import { BarChart3 } from 'lucide-react'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Table } from '../../components/Table.tsx'
import { readableBrl } from '../../format/brl.ts'
import { shortDay } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { BarsByDay } from './BarsByDay.tsx'
import type { DayUsage } from './compare-periods.ts'
import { t } from '../../language/t.ts'

export function SpendByDay({ days }: { days: readonly DayUsage[] }) {
  const isUsed = days.some(({ requests }) => requests > 0)
  return (
    <Card title={t('Gasto por dia')}>
      {isUsed ? (
        <>
          <BarsByDay days={days} />
          <details className="mt-4 text-sm">
            <summary className="inline-flex min-h-11 items-center font-medium text-accent underline-offset-4 hover:underline md:min-h-8">
              {t('Ver os números')}
            </summary>
            <Table
              caption={t('Gasto e chamadas de cada dia')}
              rows={days.toReversed()}
              rowKey={({ day }) => day}
              columns={[
                { key: 'day', header: t('Dia'), cell: ({ day }) => shortDay(day) },
                {
                  key: 'requests',
                  header: t('Chamadas'),
                  isNumeric: true,
                  cell: ({ requests }) => wholeNumber(requests),
                },
                {
                  key: 'spent',
                  header: t('Gasto'),
                  isNumeric: true,
                  cell: ({ cost_billed_brl }) => readableBrl(cost_billed_brl),
                },
              ]}
            />
          </details>
        </>
      ) : (
        <EmptyState icon={<BarChart3 className="size-6" />} title={t('Nenhum gasto neste período')}>
          {t('Assim que você fizer chamadas, o gasto de cada dia aparece aqui.')}
        </EmptyState>
      )}
    </Card>
  )
}
