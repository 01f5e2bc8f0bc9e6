import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Money } from '../components/Money.tsx'
import { Skeleton } from '../components/Skeleton.tsx'
import { runwayQuery } from '../pages/home/home-queries.ts'
import { t } from '../language/t.ts'

/** The customer's balance on every page, as the account's events change it, and the way to add to it. */
export function BalanceLink({ onFollow }: { readonly onFollow?: () => void }) {
  const { data: runway, isError } = useQuery(runwayQuery)
  return (
    <Link
      to="/recargas"
      {...(onFollow ? { onClick: onFollow } : {})}
      className="flex min-h-12 items-center justify-between gap-2 rounded-lg px-2 text-sm hover:bg-sunken low:min-h-9 lower:min-h-6"
    >
      <span className="low:flex low:items-baseline low:gap-2">
        <span className="block text-xs text-muted">{t('Saldo')}</span>{' '}
        {runway ? (
          <Money amount={runway.balance_brl} className="block font-semibold" />
        ) : (
          <span className="block h-5">{isError ? '–' : <Skeleton className="h-4 w-20" />}</span>
        )}
      </span>{' '}
      <span className="text-xs font-medium text-accent low:hidden">{t('Recarregar')}</span>
    </Link>
  )
}
