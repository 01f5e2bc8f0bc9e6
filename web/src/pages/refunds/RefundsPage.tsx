import { useInfiniteQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { RefundEntry } from './RefundEntry.tsx'
import { RefundRequest } from './RefundRequest.tsx'
import { refundListQuery } from './refund-queries.ts'
import { SevenDays } from './SevenDays.tsx'
import { t } from '../../language/t.ts'

export function RefundsPage() {
  const list = useInfiniteQuery(refundListQuery)
  const [first] = list.data?.pages ?? []
  const refunds = list.data?.pages.flatMap((page) => page.refunds)
  return (
    <>
      <PageTitle
        title={t('Reembolsos')}
        description={t('O que você pagou e não gastou volta para você, pelo mesmo caminho.')}
      />
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="grid gap-6">
          {list.isError && !first && (
            <ErrorState error={list.error} onRetry={() => void list.refetch()} />
          )}
          {!list.isError && !first && (
            <Card>
              <SkeletonRows rows={5} />
            </Card>
          )}
          {first && <RefundRequest available={first} />}
          {refunds && (
            <Card title={t('Histórico')}>
              {refunds.length === 0 && (
                <EmptyState title={t('Nenhum reembolso ainda')}>
                  {t('Quando você pedir um, o andamento aparece aqui.')}
                </EmptyState>
              )}
              {refunds.length > 0 && (
                <ul className="divide-y divide-line">
                  {refunds.map((refund) => (
                    <RefundEntry key={refund.id} refund={refund} />
                  ))}
                </ul>
              )}
              <LoadMore query={list} />
            </Card>
          )}
        </div>
        {/* On a phone it stands below what is loading. */}
        {(first || list.isError) && <SevenDays minimum={first?.minimum_brl} />}
      </div>
    </>
  )
}
