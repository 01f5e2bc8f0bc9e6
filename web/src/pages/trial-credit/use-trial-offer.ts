import { useQuery } from '@tanstack/react-query'
import { trialCreditQuery, type TrialCredit } from './trial-credit-query.ts'

/** The credit that the account may ask for. Without an answer there is no offer: it must not be in the way. */
export function useTrialOffer(): { isPending: boolean; offer: TrialCredit | undefined } {
  const { data, isPending } = useQuery(trialCreditQuery)
  return { isPending, offer: data?.status === 'offered' ? data : undefined }
}
