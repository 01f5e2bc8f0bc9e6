import { queryOptions } from '@tanstack/react-query'
import { ofEverybody } from './cache-owner.ts'
import { api, type Answer } from './client.ts'

export type ServiceNews = Answer<'get', '/incidents/active'>
export type Incident = ServiceNews['incidents'][number]

const REFRESH_MS = 60_000

export const incidentsQuery = queryOptions({
  ...ofEverybody,
  queryKey: ['incidents'],
  queryFn: () => api.get('/incidents/active'),
  refetchInterval: REFRESH_MS,
})
