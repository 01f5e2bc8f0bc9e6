import { queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'

export type Shield = Answer<'get', '/me/shield'>
export type ShieldReport = Answer<'get', '/me/shield/report'>

export const shieldQuery = queryOptions({
  queryKey: ['shield'],
  queryFn: ({ signal }) => api.get('/me/shield', { signal }),
})

/** Of the last 30 days. */
export const shieldReportQuery = queryOptions({
  queryKey: ['shield', 'report'],
  queryFn: ({ signal }) => api.get('/me/shield/report', { signal }),
})
