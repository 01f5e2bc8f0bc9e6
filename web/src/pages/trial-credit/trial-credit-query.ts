import { queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'

export type TrialCredit = Answer<'get', '/me/trial-credit'>

export const trialCreditQuery = queryOptions({
  queryKey: ['trial-credit'],
  queryFn: ({ signal }) => api.get('/me/trial-credit', { signal }),
})
