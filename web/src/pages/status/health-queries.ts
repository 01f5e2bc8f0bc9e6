import { queryOptions } from '@tanstack/react-query'
import { ofEverybody } from '../../api/cache-owner.ts'
import { api, type Answer } from '../../api/client.ts'

export const HEALTH_DAYS = 90

const healthQuery = (days: number) =>
  queryOptions({
    ...ofEverybody,
    queryKey: ['upstream-health', days],
    queryFn: () => api.get('/upstream-health', { query: { days } }),
  })

export const upstreamHealthQuery = healthQuery(HEALTH_DAYS)
/** What the headline looks at: a fault of last week is over. */
export const lastDayHealthQuery = healthQuery(1)

export type MakerHealth = Answer<'get', '/upstream-health'>['providers'][number]
