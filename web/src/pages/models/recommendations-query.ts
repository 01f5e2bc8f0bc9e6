import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** Not retried, and fails silently: nobody should wait for an extra. */
export const recommendationsQuery = queryOptions({
  queryKey: ['recommendations'],
  queryFn: ({ signal }) => api.get('/me/recommendations', { signal }),
  staleTime: 5 * 60_000,
  retry: false,
})
