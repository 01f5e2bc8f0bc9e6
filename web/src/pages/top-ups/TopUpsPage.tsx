import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { sessionQuery } from '../../api/session.ts'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { Money } from '../../components/Money.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { useFilters } from '../../lib/use-filters.ts'
import { AutomaticTopUp } from './AutomaticTopUp.tsx'
import { Cards } from './Cards.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { TrialCreditCard } from '../trial-credit/TrialCreditCard.tsx'
import { balanceQuery } from '../usage/usage-queries.ts'
import { useTrialOffer } from '../trial-credit/use-trial-offer.ts'
import { NewTopUp } from './NewTopUp.tsx'
import { TopUpHistory } from './TopUpHistory.tsx'
import { TopUpInProgress } from './TopUpInProgress.tsx'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function TopUpsPage() {
  // In the URL, so that the open payment survives a reload or a return from the bank's app.
  const [{ recarga: openId }, setFilters] = useFilters('recarga')
  const open = (id: string): void => {
    setFilters({ recarga: id })
    if (id !== '') window.scrollTo({ top: 0 })
  }
  return (
    <>
      <PageTitle
        title={t('Recargas')}
        description={<Balance />}
        actions={
          <Link to="/recargas/extrato" className={buttonClass('secondary')}>
            {t('Extrato do mês')}
          </Link>
        }
      />
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="grid gap-6">
          {openId === '' ? (
            <NewCredit onCreated={open} />
          ) : (
            <TopUpInProgress key={openId} id={openId} onClose={() => open('')} />
          )}
          <TopUpHistory onOpen={open} />
        </div>
        <div className="grid gap-6">
          <Cards />
          <AutomaticTopUp />
        </div>
      </div>
    </>
  )
}

function Balance() {
  const { data } = useQuery(balanceQuery)
  return (
    <Trans
      id="Saldo: {money}. Você só gasta o que já pagou."
      values={{
        money: data ? (
          <Money amount={data.balance_brl} className="font-semibold text-ink" />
        ) : (
          <Skeleton className="inline-block h-4 w-20 align-middle" />
        ),
      }}
    />
  )
}

/** Who may try the service for nothing need not pay first. */
function NewCredit({ onCreated }: { readonly onCreated: (id: string) => void }) {
  const { isPending, offer } = useTrialOffer()
  const { data: session } = useQuery(sessionQuery)
  if (session?.suspension)
    return (
      <Card title={t('Nova recarga')}>
        <p className="text-muted">
          {t(
            'Enquanto a conta estiver suspensa, não dá para recarregar, e a recarga automática não cobra. Os códigos Pix e boletos em aberto estão sendo cancelados: não pague nenhum deles.',
          )}
        </p>
      </Card>
    )
  // An offer that arrives later would push the form down. The placeholder is as high as the form.
  if (isPending)
    return (
      <div className="grid *:col-start-1 *:row-start-1">
        <div className="invisible min-w-0">
          <NewTopUp onCreated={onCreated} />
        </div>
        <Card>
          <SkeletonRows rows={6} label={t('Carregando as recargas…')} />
        </Card>
      </div>
    )
  return (
    <>
      {offer && <TrialCreditCard offer={offer} />}
      <NewTopUp onCreated={onCreated} />
    </>
  )
}
