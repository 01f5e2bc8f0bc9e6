import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** Twice the longest period, so that each can be compared with the previous one. */
const DAYS_READ = 60
/** The initial period. */
export const FIRST_DAYS = 30
/** The guide polls, because its steps may be done in other tabs or programs. */
export const GUIDE_REFRESH_MS = 5_000

export const statsQuery = queryOptions({
  queryKey: ['dashboard-stats'],
  queryFn: () => api.get('/me/dashboard-stats'),
})

export const runwayQuery = queryOptions({
  queryKey: ['runway'],
  queryFn: () => api.get('/me/runway'),
})

export const byDayQuery = queryOptions({
  queryKey: ['usage', 'by-day', DAYS_READ],
  queryFn: () => api.get('/usage/by-day', { query: { days: DAYS_READ } }),
})

export function summaryQuery(days: number) {
  return queryOptions({
    queryKey: ['usage', 'summary', days],
    queryFn: () => api.get('/me/usage-summary', { query: { days } }),
  })
}
