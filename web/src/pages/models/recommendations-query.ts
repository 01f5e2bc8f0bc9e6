import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** What is beside the catalog keeps nobody waiting by being asked for again: it fails without a word. */
export const recommendationsQuery = queryOptions({
  queryKey: ['recommendations'],
  queryFn: ({ signal }) => api.get('/me/recommendations', { signal }),
  staleTime: 5 * 60_000,
  retry: false,
})
