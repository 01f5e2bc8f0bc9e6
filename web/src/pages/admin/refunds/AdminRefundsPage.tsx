import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { LoadMore } from '../../../components/LoadMore.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { useFilters } from '../../../lib/use-filters.ts'
import { StateSwitch } from '../StateSwitch.tsx'
import {
  adminRefundsQuery,
  byHandQuery,
  type OperatedRefund,
  type RefundStatus,
} from './admin-refund-queries.ts'
import { AdminRefundEntry } from './AdminRefundEntry.tsx'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

const STATES = perLanguage(
  () =>
    ({
      decidir: t('Para decidir'),
      transferir: t('Para transferir à mão'),
      aprovados: t('Aprovados'),
      andamento: t('Em andamento'),
      devolvidos: t('Devolvidos'),
      recusados: t('Recusados'),
      falhas: t('Não deram certo'),
      todos: t('Todos'),
    }) as const,
)

type State = keyof ReturnType<typeof STATES>

const STATUS: Readonly<Partial<Record<State, RefundStatus>>> = {
  decidir: 'requested',
  aprovados: 'approved',
  andamento: 'processing',
  devolvidos: 'done',
  recusados: 'rejected',
  falhas: 'failed',
}

export function AdminRefundsPage() {
  const [{ situacao }, setFilters] = useFilters('situacao')
  const state = Object.hasOwn(STATES(), situacao) ? (situacao as State) : 'decidir'
  return (
    <>
      <PageTitle
        title={t('Reembolsos')}
        description={t('O dinheiro já saiu do saldo do cliente quando ele pediu.')}
      />
      <StateSwitch
        legend={t('Quais reembolsos')}
        states={STATES()}
        value={state}
        onChange={(next) => setFilters({ situacao: next === 'decidir' ? '' : next })}
      />
      <Card>
        {state === 'transferir' ? <ByHand /> : <OfState key={state} status={STATUS[state]} />}
      </Card>
    </>
  )
}

function OfState({ status }: { readonly status: RefundStatus | undefined }) {
  const found = useInfiniteQuery(adminRefundsQuery(status))
  return (
    <RefundList
      query={found}
      refunds={found.data?.pages.flatMap((page) => page.refunds)}
      empty={
        <EmptyState
          icon={<Undo2 className="size-6" />}
          title={status === 'requested' ? t('Nada para decidir') : t('Nenhum reembolso aqui')}
        >
          {status === 'requested'
            ? t('Os pedidos acima do limite aparecem aqui. Os outros seguem sozinhos.')
            : t('Não há nenhum nesta situação.')}
        </EmptyState>
      }
      more={<LoadMore query={found} />}
    />
  )
}

function ByHand() {
  const found = useQuery(byHandQuery)
  return (
    <RefundList
      query={found}
      refunds={found.data}
      empty={
        <EmptyState icon={<Undo2 className="size-6" />} title={t('Nada para transferir')}>
          {t(
            'Boletos, Pix com mais de 90 dias e cartões com mais de 180 aparecem aqui: o processador não os devolve.',
          )}
        </EmptyState>
      }
    />
  )
}

interface RefundListProps {
  readonly query: {
    readonly isPending: boolean
    readonly isError: boolean
    readonly error: unknown
    refetch(): Promise<unknown>
  }
  readonly refunds: readonly OperatedRefund[] | undefined
  readonly empty: ReactNode
  readonly more?: ReactNode
}

function RefundList({ query, refunds, empty, more }: RefundListProps) {
  if (query.isPending) return <SkeletonRows label={t('Carregando os reembolsos')} />
  if (query.isError && !refunds)
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  if (!refunds || refunds.length === 0) return empty
  return (
    <div className="grid gap-4">
      <ul className="divide-y divide-line">
        {refunds.map((refund) => (
          <AdminRefundEntry key={refund.id} refund={refund} />
        ))}
      </ul>
      {more}
    </div>
  )
}
