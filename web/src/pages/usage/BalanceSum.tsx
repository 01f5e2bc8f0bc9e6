import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { exactBrl } from '../../format/brl.ts'
import { balanceQuery, type Balance } from './usage-queries.ts'
import { t } from '../../language/t.ts'

/** Everything that came and went, with all digits, so that the lines add up to the balance. */
export function BalanceSum() {
  const { data: balance, isError, error, refetch } = useQuery(balanceQuery)
  return (
    <Card title={t('De onde vem o seu saldo')} className="mb-5">
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && <Sum balance={balance} />}
    </Card>
  )
}

/** Undefined while it loads: the lines have their heights already, so nothing below them moves. */
function Sum({ balance }: { readonly balance: Balance | undefined }) {
  const lines = [
    [t('Recargas pagas'), '+', balance?.total_topped_up_brl],
    [t('Recompensas, créditos e ajustes a favor'), '+', balance?.total_other_credits_brl],
    [t('Uso'), '−', balance?.total_spent_brl],
    [t('Reembolsos, também os que estão a caminho'), '−', balance?.total_refunded_brl],
    [t('Contestações, ajustes e recompensas retiradas'), '−', balance?.total_other_debits_brl],
    [t('Saldo'), '=', balance?.balance_brl],
  ] as const
  return (
    <dl className="divide-y divide-line text-sm">
      {lines.map(([name, sign, amount]) => (
        <div
          key={name}
          className="flex flex-col gap-x-4 py-2 last:font-semibold sm:flex-row sm:justify-between"
        >
          <dt className={sign === '=' ? '' : 'text-muted'}>{name}</dt>
          <dd className="ml-auto whitespace-nowrap tabular-nums">
            {amount === undefined ? (
              <Skeleton className="h-5 w-24" />
            ) : (
              <>
                <span aria-hidden="true" className="text-muted">
                  {amount === 0 && sign !== '=' ? '' : sign}
                </span>{' '}
                {exactBrl(amount)}
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
