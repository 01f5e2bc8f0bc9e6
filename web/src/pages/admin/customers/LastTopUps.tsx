import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Money } from '../../../components/Money.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { METHOD_WORDS, TOP_UP_STATUS } from '../../top-ups/top-up-words.ts'
import type { CustomerDetail } from './customer-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

type TopUp = CustomerDetail['last_topups'][number]

const COLUMNS = perLanguage((): readonly Column<TopUp>[] => [
  { key: 'what', header: t('Recarga'), cell: (each) => <What topUp={each} /> },
  {
    key: 'returned',
    header: t('Devolvido'),
    isNumeric: true,
    isSecondary: true,
    cell: (each) => (each.returned_brl > 0 ? <Money amount={each.returned_brl} /> : '–'),
  },
  { key: 'status', header: t('Situação'), cell: (each) => <Status topUp={each} /> },
  {
    key: 'id',
    header: t('Id'),
    isSecondary: true,
    cell: ({ id }) => <code className="text-xs">{id}</code>,
  },
])

export function LastTopUps({ topUps }: { readonly topUps: readonly TopUp[] }) {
  return (
    <Card title={t('Últimas recargas')}>
      {topUps.length === 0 ? (
        <EmptyState title={t('Nenhuma recarga')}>
          {t('Este cliente ainda não pagou nada.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Recargas, as mais novas primeiro')}
          columns={COLUMNS()}
          rows={topUps}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  )
}

function What({ topUp }: { readonly topUp: TopUp }) {
  return (
    <>
      <Money amount={topUp.amount_brl} className="font-medium" />
      <span className="block text-xs text-muted">
        {methodWord(topUp.method)} · <DateTime instant={topUp.paid_at ?? topUp.created_at} />
      </span>
    </>
  )
}

function Status({ topUp: { status } }: { readonly topUp: TopUp }) {
  const known = TOP_UP_STATUS()[status as keyof ReturnType<typeof TOP_UP_STATUS>]
  return <Badge tone={known?.tone ?? 'neutral'}>{known?.text ?? status}</Badge>
}

function methodWord(method: string): string {
  return METHOD_WORDS()[method as keyof ReturnType<typeof METHOD_WORDS>] ?? method
}
