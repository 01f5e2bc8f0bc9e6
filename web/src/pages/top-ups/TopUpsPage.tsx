import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { Card } from '../../components/Card.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { useFilters } from '../../lib/use-filters.ts'
import { AutomaticTopUp } from './AutomaticTopUp.tsx'
import { Cards } from './Cards.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { TrialCreditCard } from '../trial-credit/TrialCreditCard.tsx'
import { useTrialOffer } from '../trial-credit/use-trial-offer.ts'
import { NewTopUp } from './NewTopUp.tsx'
import { TopUpHistory } from './TopUpHistory.tsx'
import { TopUpInProgress } from './TopUpInProgress.tsx'
import { t } from '../../language/t.ts'

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
        description={t('Coloque saldo quando quiser. Você só gasta o que já pagou.')}
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
