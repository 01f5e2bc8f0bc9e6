import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { SERVICE } from '../use-act.ts'
import type { Window } from './margin-periods.ts'

export type Margins = Answer<'get', '/admin/margins'>
export type MarginSums = Margins['totals']
export type DayMargin = Margins['by_day'][number]

export function marginsQuery({ from, to }: Window) {
  return queryOptions({
    queryKey: [...SERVICE, 'margins', from, to],
    queryFn: ({ signal }) => api.get('/admin/margins', { query: { from, to }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}
