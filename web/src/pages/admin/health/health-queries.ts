import { queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { SERVICE } from '../use-act.ts'

export type Health = Answer<'get', '/admin/health'>
export type Queue = Health['queues'][number]
export type Job = Health['jobs'][number]
export type ThisNode = Health['this_node']

const REFRESH_MS = 15_000

export const healthQuery = queryOptions({
  queryKey: [...SERVICE, 'health'],
  queryFn: ({ signal }) => api.get('/admin/health', { signal }),
  refetchInterval: REFRESH_MS,
})
