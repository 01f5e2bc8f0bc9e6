import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { shortDay } from '../../../format/date.ts'
import { percent } from '../../../format/number.ts'
import { usd } from '../../../format/usd.ts'
import type { UpstreamDay } from './reconciliation-queries.ts'

const COLUMNS: readonly Column<UpstreamDay>[] = [
  { key: 'day', header: 'Dia', cell: ({ day }) => shortDay(day) },
  { key: 'upstream', header: 'Provedor', cell: ({ upstream }) => upstream },
  {
    key: 'ours',
    header: 'Nosso',
    isNumeric: true,
    isSecondary: true,
    cell: (each) => usd(each.ours_usd),
  },
  {
    key: 'theirs',
    header: 'Deles',
    isNumeric: true,
    isSecondary: true,
    cell: (each) => usd(each.theirs_usd),
  },
  {
    key: 'difference',
    header: 'Diferença',
    isNumeric: true,
    cell: ({ difference_usd, difference_percent }) =>
      `${usd(difference_usd)}${difference_percent === null ? '' : ` (${percent(difference_percent)})`}`,
  },
  {
    key: 'compared',
    header: 'Comparado em',
    isSecondary: true,
    cell: ({ compared_at }) => <DateTime instant={compared_at} />,
  },
]

export function UpstreamDays({ days }: { readonly days: readonly UpstreamDay[] }) {
  return (
    <Card
      title="Custos dos provedores, por dia"
      description="Dias em UTC, como os provedores os contam."
    >
      {days.length === 0 ? (
        <EmptyState title="Nenhum dia comparado">
          Importe as faturas dos provedores pela linha de comando para compará-las.
        </EmptyState>
      ) : (
        <Table
          caption="Custos dos provedores por dia"
          columns={COLUMNS}
          rows={days}
          rowKey={({ upstream, day }) => `${upstream} ${day}`}
        />
      )}
    </Card>
  )
}
