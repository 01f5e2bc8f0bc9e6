import { queryOptions } from '@tanstack/react-query'
import { ofEverybody } from '../../api/cache-owner.ts'
import { api, type Answer } from '../../api/client.ts'

export type ModelSpeed = Answer<'get', '/model-speeds'>['models'][number]

/** The server sums once in an hour. */
const staleTime = 300_000

/** Of every model that was measured. */
export const speedsQuery = queryOptions({
  ...ofEverybody,
  queryKey: ['model-speeds'],
  queryFn: ({ signal }) => api.get('/model-speeds', { signal }),
  staleTime,
})

/** Of one model, by day. */
export function speedQuery(modelId: string) {
  return queryOptions({
    ...ofEverybody,
    queryKey: ['model-speeds', modelId],
    queryFn: ({ signal }) => api.get('/model-speeds', { query: { model_id: modelId }, signal }),
    staleTime,
  })
}
