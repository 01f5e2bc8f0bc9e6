import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** Twice the longest period, so that each can be compared with the one before. */
const DAYS_READ = 60
/** The period that is shown first. */
export const FIRST_DAYS = 30
/** While it shows how the first steps go, it must see them being done elsewhere. */
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
