import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { LoadMore } from '../../../components/LoadMore.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { AdjustmentEntry } from './AdjustmentEntry.tsx'
import { adjustmentsQuery, type AdjustmentStatus } from './adjustment-queries.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly of: { readonly status?: AdjustmentStatus; readonly customerId?: string }
  readonly isWithCustomer: boolean
  /** Shown when the list is empty. */
  readonly empty: ReactNode
}

export function AdjustmentList({ of, isWithCustomer, empty }: Props) {
  const found = useInfiniteQuery(adjustmentsQuery(of))
  if (found.isPending) return <SkeletonRows label={t('Carregando os ajustes')} />
  if (found.isError && !found.data)
    return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const adjustments = found.data.pages.flatMap((page) => page.adjustments)
  if (adjustments.length === 0) return empty
  return (
    <div className="grid gap-4">
      <ul className="divide-y divide-line">
        {adjustments.map((adjustment) => (
          <AdjustmentEntry
            key={adjustment.id}
            adjustment={adjustment}
            isWithCustomer={isWithCustomer}
          />
        ))}
      </ul>
      <LoadMore query={found} />
    </div>
  )
}
