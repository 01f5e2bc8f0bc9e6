import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** The customer's newest calls to a model, as of when the page was opened: a busy account would read them all the time. */
export function modelCallsQuery(modelId: string) {
  return queryOptions({
    queryKey: ['calls-of-model', modelId],
    queryFn: ({ signal }) =>
      api.get('/usage/calls', { query: { model_id: modelId, limit: 100 }, signal }),
    staleTime: 60_000,
    retry: false,
  })
}
