/** The user's progress towards the first answer of a model, from the API; polled until every step is done. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trialCreditQuery, type TrialCredit } from '../trial-credit/trial-credit-query.ts'
import { GUIDE_REFRESH_MS, statsQuery, summaryQuery } from './home-queries.ts'

const DAYS = 365

export interface FirstSteps {
  /** In place of the profile and the payment. Undefined where there is none for this account. */
  readonly trial: TrialCredit | undefined
  readonly hasProfile: boolean
  readonly hasPaid: boolean
  readonly hasKey: boolean
  readonly hasCalled: boolean
}

/** `hasCalledLately`: from data that the page already has; undefined while it is loading. */
export function useFirstSteps(hasCalledLately: boolean | undefined): {
  isPending: boolean
  steps: FirstSteps | undefined
} {
  const [isWatching, setIsWatching] = useState(true)
  const refetchInterval = isWatching ? GUIDE_REFRESH_MS : false
  const { data: stats, isPending: isStatsPending } = useQuery({ ...statsQuery, refetchInterval })
  const { data: usage, isLoading: isUsageLoading } = useQuery({
    ...summaryQuery(DAYS),
    refetchInterval,
    enabled: hasCalledLately === false,
  })
  const { data: trial, isPending: isTrialPending } = useQuery(trialCreditQuery)
  const isPending =
    hasCalledLately === undefined || isStatsPending || isUsageLoading || isTrialPending
  if (!stats || (!hasCalledLately && !usage)) return { isPending, steps: undefined }

  const done = {
    hasProfile: Boolean(stats.profile?.cpf_cnpj),
    hasPaid: stats.topups.paid > 0 || stats.balance_brl > 0 || trial?.status === 'granted',
    hasKey: stats.keys.active > 0,
    hasCalled: hasCalledLately || (usage?.period_totals.requests ?? 0) > 0,
  }
  const isComplete = Object.values(done).every(Boolean)
  if (isComplete === isWatching) setIsWatching(!isComplete)
  return { isPending, steps: { ...done, trial: trial?.status === 'none' ? undefined : trial } }
}
