import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../../api/client.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { BOOKS } from '../use-act.ts'

export type Adjustment = Answer<'get', '/admin/adjustments'>['adjustments'][number]
export type AdjustmentStatus = Adjustment['status']
export type AdjustmentKind = Adjustment['kind']
export type AdjustmentInput = Body<'post', '/admin/adjustments'>

const PAGE = 50

/** All adjustments, or those of one state or one customer. */
export function adjustmentsQuery(of: { status?: AdjustmentStatus; customerId?: string }) {
  const { status, customerId } = of
  return infiniteQueryOptions({
    queryKey: [...BOOKS, 'adjustments', status ?? 'all', customerId ?? 'everybody'],
    queryFn: ({ pageParam, signal }) =>
      api.get('/admin/adjustments', {
        query: {
          limit: PAGE,
          ...(status === undefined ? {} : { status }),
          ...(customerId === undefined ? {} : { customer_id: customerId }),
          ...(pageParam === undefined ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    ...cursorPages,
  })
}

/** Adjustments above this amount need a second operator's approval. */
export const approvalAboveQuery = queryOptions({
  queryKey: [...BOOKS, 'approval-above'],
  queryFn: async ({ signal }) =>
    (await api.get('/admin/adjustments', { query: { limit: 1 }, signal })).approval_above_brl,
  staleTime: 5 * 60_000,
})
