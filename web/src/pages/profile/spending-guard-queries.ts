import { queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'

export type SpendingGuard = Answer<'get', '/me/spending-guard'>

export const spendingGuardQuery = queryOptions({
  queryKey: ['spending-guard'],
  queryFn: ({ signal }) => api.get('/me/spending-guard', { signal }),
})
