import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/button-class.ts'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { TRIAL_TEXT, trialTitle } from '../trial-credit/TrialCreditCard.tsx'
import { TrialCreditForm } from '../trial-credit/TrialCreditForm.tsx'
import { useTrialOffer } from '../trial-credit/use-trial-offer.ts'
import { FirstKey } from './FirstKey.tsx'
import { keysWithoutBalanceQuery } from './playground-queries.ts'
import { t } from '../../language/t.ts'

/** In place of a form that needs a key to pay with: without a balance no key is active, however many there are. */
export function NoPayingKey() {
  const suspended = useQuery(keysWithoutBalanceQuery)
  const trial = useTrialOffer()
  if (suspended.isPending || trial.isPending) return <Skeleton className="h-16" />
  if (suspended.data === undefined)
    return <ErrorState error={suspended.error} onRetry={() => void suspended.refetch()} />
  return (
    <div className="grid justify-items-start gap-3">
      {trial.offer ? (
        <>
          <h2 className="text-base font-semibold">{trialTitle(trial.offer)}</h2>
          <p className="text-sm">{TRIAL_TEXT()}</p>
          <TrialCreditForm offer={trial.offer} />
          <Link to="/recargas" className={buttonClass('quiet', '-ml-4')}>
            {t('Prefiro recarregar com Pix')}
          </Link>
        </>
      ) : suspended.data.length > 0 ? (
        <>
          <p className="text-sm">
            {t(
              'Você está sem saldo. Recarregue e continue: suas chaves voltam a funcionar na hora.',
            )}
          </p>
          <Link to="/recargas" className={buttonClass('primary')}>
            {t('Recarregar com Pix')}
          </Link>
        </>
      ) : (
        <NoKey />
      )}
    </div>
  )
}

function NoKey() {
  return (
    <>
      <p className="text-sm">
        {t(
          'Para continuar você precisa de uma chave ativa: é nela que o gasto é contado, com os limites que você definir.',
        )}
      </p>
      <div className="flex flex-wrap gap-3">
        <FirstKey />
        <Link to="/chaves" className={buttonClass('secondary')}>
          {t('Criar uma chave')}
        </Link>
      </div>
    </>
  )
}
