import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/client.ts'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Money } from '../../components/Money.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { brl, readableBrl } from '../../format/brl.ts'
import { counted } from '../../format/number.ts'
import { runwayQuery } from './home-queries.ts'
import { t } from '../../language/t.ts'

type Runway = Answer<'get', '/me/runway'>

/** A runway beyond this is not counted in days. */
const DAYS_SHOWN_MAX = 365

export function BalanceCard() {
  const { data: runway, isError, error, refetch } = useQuery(runwayQuery)
  return (
    <Card title={t('Saldo')} className="flex flex-col">
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && (
        <div className="flex flex-1 flex-col gap-3">
          {runway ? <Balance runway={runway} /> : <BalanceSkeleton />}
          <Link to="/recargas" className={buttonClass('primary', 'mt-auto w-full')}>
            {t('Recarregar com Pix')}
          </Link>
        </div>
      )}
    </Card>
  )
}

function Balance({ runway }: { runway: Runway }) {
  return (
    <>
      {/* A million has sixteen characters, and the card is 20 rem wide. */}
      <p
        className={`${brl(runway.balance_brl).length > 12 ? 'text-2xl' : 'text-4xl'} font-semibold tracking-tight`}
      >
        <Money amount={runway.balance_brl} />
      </p>
      <p className="text-sm text-muted">{lastsText(runway)}</p>
      {isShort(runway) && (
        <Notice tone="warning">
          {runway.balance_brl > 0
            ? t('Recarregue logo para suas chamadas não pararem.')
            : t('Sem saldo, as chamadas são recusadas. Recarregue para voltar a usar.')}
        </Notice>
      )}
    </>
  )
}

/** As high as the loaded card, so that nothing below it moves. */
function BalanceSkeleton() {
  return (
    <>
      <Skeleton className="h-10 w-48" />
      <Skeleton className="h-10" />
    </>
  )
}

function isShort({ critical, balance_brl, daily_avg_brl }: Runway): boolean {
  return critical || (balance_brl <= 0 && daily_avg_brl > 0)
}

function lastsText({ runway_days, daily_avg_brl }: Runway): string {
  if (runway_days === null) return t('Ainda há pouco uso para saber quanto tempo ele dura.')
  const average = t('com a média de {dailyAvgBrl} por dia', {
    dailyAvgBrl: readableBrl(daily_avg_brl),
  })
  if (runway_days > DAYS_SHOWN_MAX) return t('Dura mais de um ano, {average}.', { average })
  if (runway_days === 0) return t('Dura menos de um dia, {average}.', { average })
  return t('Dura cerca de {runwayDays}, {average}.', {
    runwayDays: counted(runway_days, t('dia'), t('dias')),
    average,
  }).replace('uns 1 ', 'um ')
}
