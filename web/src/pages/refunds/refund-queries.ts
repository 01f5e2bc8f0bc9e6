import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type Refund = Answer<'get', '/me/refunds/{id}'>
export type RefundPage = Answer<'get', '/me/refunds'>

const PAGE = 10
const LOOK_EVERY_MS = 5_000

export const refundListQuery = infiniteQueryOptions({
  queryKey: ['refunds'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/me/refunds', { query: { limit: PAGE, cursor: pageParam }, signal }),
  ...cursorPages,
  // A refund in progress ends within minutes, so it is polled; a review by a person may take a day.
  refetchInterval: ({ state }) =>
    state.data?.pages.some((page) => page.refunds.some(isOnItsWay)) ? LOOK_EVERY_MS : false,
})

function isOnItsWay({ status }: Refund): boolean {
  return status === 'approved' || status === 'processing'
}
