import { queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { BOOKS } from '../use-act.ts'

export type Report = Answer<'get', '/admin/reconciliation'>
export type Difference = Report['differences'][number]
export type UpstreamDay = Report['upstream_days'][number]

export function reportQuery(days: number) {
  return queryOptions({
    queryKey: [...BOOKS, 'reconciliation', days],
    queryFn: ({ signal }) => api.get('/admin/reconciliation', { query: { days }, signal }),
  })
}
