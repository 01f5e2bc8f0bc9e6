import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { Money } from '../../components/Money.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { ReceiptLink } from './ReceiptLink.tsx'
import { topUpListQuery, type TopUp } from './top-up-queries.ts'
import { methodText, TOP_UP_STATUS } from './top-up-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function TopUpHistory({ onOpen }: { readonly onOpen: (id: string) => void }) {
  const list = useInfiniteQuery(topUpListQuery)
  const topUps = list.data?.pages.flatMap((page) => page.topups)
  return (
    <Card title={t('Histórico')}>
      {list.isPending && <Skeleton className="h-40" />}
      {list.isError && !topUps && (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      )}
      {topUps?.length === 0 && (
        <EmptyState title={t('Nenhuma recarga ainda')}>
          {t('A primeira aparece aqui, com recibo, assim que você a fizer.')}
        </EmptyState>
      )}
      {topUps && topUps.length > 0 && (
        <ul className="divide-y divide-line">
          {topUps.map((topUp) => (
            <Entry key={topUp.id} topUp={topUp} onOpen={onOpen} />
          ))}
        </ul>
      )}
      <LoadMore query={list} />
    </Card>
  )
}

function Entry({
  topUp,
  onOpen,
}: {
  readonly topUp: TopUp
  readonly onOpen: (id: string) => void
}) {
  const isSuspended = Boolean(useQuery(sessionQuery).data?.suspension)
  const { text, tone } = TOP_UP_STATUS()[topUp.status]
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="font-medium tabular-nums">
          <Money amount={topUp.amount_brl} />
        </p>
        <p className="text-sm text-muted">
          {methodText(topUp)}
          {topUp.is_automatic && t(', automática')} ·{' '}
          <DateTime instant={topUp.paid_at ?? topUp.created_at} />
        </p>
        {topUp.returned_brl > 0 && (
          <p className="text-sm text-muted">
            <Trans
              id="Devolvido: {money}"
              values={{ money: <Money amount={topUp.returned_brl} /> }}
            />
          </p>
        )}
      </div>
      <div className="flex items-center gap-3">
        <Badge tone={tone}>{text}</Badge>
        {topUp.paid_at && <ReceiptLink id={topUp.id} />}
        {topUp.status === 'pending' && (
          <Button variant="secondary" onClick={() => onOpen(topUp.id)}>
            {topUp.method === 'card' || isSuspended ? t('Ver') : t('Pagar')}
          </Button>
        )}
      </div>
    </li>
  )
}
