import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { shortDay } from '../../../format/date.ts'
import { percent } from '../../../format/number.ts'
import { usd } from '../../../format/usd.ts'
import type { UpstreamDay } from './reconciliation-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

const COLUMNS = perLanguage((): readonly Column<UpstreamDay>[] => [
  { key: 'day', header: t('Dia'), cell: ({ day }) => shortDay(day) },
  { key: 'upstream', header: t('Provedor'), cell: ({ upstream }) => upstream },
  {
    key: 'ours',
    header: t('Nosso'),
    isNumeric: true,
    isSecondary: true,
    cell: (each) => usd(each.ours_usd),
  },
  {
    key: 'theirs',
    header: t('Deles'),
    isNumeric: true,
    isSecondary: true,
    cell: (each) => usd(each.theirs_usd),
  },
  {
    key: 'difference',
    header: t('Diferença'),
    isNumeric: true,
    cell: ({ difference_usd, difference_percent }) =>
      `${usd(difference_usd)}${difference_percent === null ? '' : ` (${percent(difference_percent)})`}`,
  },
  {
    key: 'compared',
    header: t('Comparado em'),
    isSecondary: true,
    cell: ({ compared_at }) => <DateTime instant={compared_at} />,
  },
])

export function UpstreamDays({ days }: { readonly days: readonly UpstreamDay[] }) {
  return (
    <Card
      title={t('Custos dos provedores, por dia')}
      description={t('Dias em UTC, como os provedores os contam.')}
    >
      {days.length === 0 ? (
        <EmptyState title={t('Nenhum dia comparado')}>
          {t('Importe as faturas dos provedores abaixo para compará-las.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Custos dos provedores por dia')}
          columns={COLUMNS()}
          rows={days}
          rowKey={({ upstream, day }) => `${upstream} ${day}`}
        />
      )}
    </Card>
  )
}
