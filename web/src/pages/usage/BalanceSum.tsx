import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SumLines, type SumLine } from '../../components/SumLines.tsx'
import { balanceQuery, type Balance } from './usage-queries.ts'
import { t } from '../../language/t.ts'

/** Everything that came and went, up to the balance. */
export function BalanceSum() {
  const { data: balance, isError, error, refetch } = useQuery(balanceQuery)
  return (
    <Card title={t('De onde vem o seu saldo')} className="mb-5">
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && <SumLines lines={linesOf(balance)} />}
    </Card>
  )
}

function linesOf(balance: Balance | undefined): readonly SumLine[] {
  return [
    [t('Recargas pagas'), '+', balance?.total_topped_up_brl],
    [t('Recompensas, créditos e ajustes a favor'), '+', balance?.total_other_credits_brl],
    [t('Uso'), '−', balance?.total_spent_brl],
    [t('Reembolsos, também os que estão a caminho'), '−', balance?.total_refunded_brl],
    [t('Contestações, ajustes e recompensas retiradas'), '−', balance?.total_other_debits_brl],
    [t('Saldo'), '=', balance?.balance_brl],
  ]
}
