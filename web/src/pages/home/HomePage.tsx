import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { InvitationNotice } from '../teams/InvitationNotice.tsx'
import { BalanceCard } from './BalanceCard.tsx'
import { comparePeriods, type Comparison, type Latency } from './compare-periods.ts'
import { FirstRunGuide } from './FirstRunGuide.tsx'
import { byDayQuery, FIRST_DAYS } from './home-queries.ts'
import { PeriodSwitch } from './PeriodSwitch.tsx'
import { PeriodTiles } from './PeriodTiles.tsx'
import { SpendByDay } from './SpendByDay.tsx'
import { TopModels } from './TopModels.tsx'
import { useFirstSteps } from './use-first-steps.ts'
import { t } from '../../language/t.ts'

export function HomePage() {
  const [days, setDays] = useState(FIRST_DAYS)
  const byDay = useQuery(byDayQuery)
  const isUsed = byDay.data?.by_day.some((day) => day.requests + day.failed_requests > 0)
  const guide = useFirstSteps(byDay.data?.by_day.some(({ requests }) => requests > 0))
  // Wait for both: a guide that arrives later would push the content down.
  const isPending = byDay.isPending || (byDay.isSuccess && guide.isPending)
  return (
    <>
      <PageTitle
        title={t('Início')}
        actions={isUsed !== false && <PeriodSwitch days={days} onChange={setDays} />}
      />
      <div className="flex flex-col gap-5">
        <InvitationNotice />
        {!isPending && guide.steps && <FirstRunGuide steps={guide.steps} />}
        {byDay.isError && <ErrorState error={byDay.error} onRetry={() => void byDay.refetch()} />}
        {isPending && <SkeletonRows rows={6} label={t('Carregando seu resumo…')} />}
        {/* Before the first call there is nothing to summarize. */}
        {!isPending && isUsed === false && <BalanceCard />}
        {!isPending && byDay.data && isUsed && (
          <Overview
            comparison={comparePeriods(byDay.data.by_day, days)}
            latency={byDay.data.latency}
            days={days}
          />
        )}
      </div>
    </>
  )
}

function Overview({
  comparison,
  latency,
  days,
}: {
  comparison: Comparison
  latency: Latency
  days: number
}) {
  return (
    <>
      <div className="grid gap-5 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
        <BalanceCard />
        <PeriodTiles comparison={comparison} latency={latency} days={days} />
      </div>
      <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_minmax(0,22rem)]">
        <SpendByDay days={comparison.days} />
        <TopModels days={days} />
      </div>
    </>
  )
}
