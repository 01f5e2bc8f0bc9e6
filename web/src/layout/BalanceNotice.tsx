import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { runwayQuery } from '../pages/home/home-queries.ts'
import { balanceQuery } from '../pages/usage/usage-queries.ts'
import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

/** On every page of a customer who has used the service and has nothing left: calls are refused. */
export function BalanceNotice() {
  const { data: runway } = useQuery(runwayQuery)
  const isEmpty = runway !== undefined && runway.balance_brl <= 0
  const { data: balance } = useQuery({ ...balanceQuery, enabled: isEmpty })
  // A new account has a guide instead.
  if (!isEmpty || !balance || balance.total_spent_brl === 0) return null
  return (
    <aside
      aria-label={t('Saldo')}
      className="border-b border-warning bg-warning-soft px-4 py-3 text-sm text-ink md:px-8"
    >
      <p role="status" className="mx-auto max-w-6xl">
        <Trans
          id="{label} As chamadas são recusadas até a próxima recarga. {link}"
          values={{
            label: <strong className="font-semibold">{t('Seu saldo acabou.')}</strong>,
            link: (
              <Link
                to="/recargas"
                className="inline-flex min-h-6 items-center font-medium underline underline-offset-2"
              >
                {t('Recarregar')}
              </Link>
            ),
          }}
        />
      </p>
    </aside>
  )
}
