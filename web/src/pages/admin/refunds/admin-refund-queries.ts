import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { BOOKS } from '../use-act.ts'

export type OperatedRefund = Answer<'get', '/admin/refunds'>['refunds'][number]
export type RefundStatus = OperatedRefund['status']

const PAGE = 50
const PAGE_MAX = 200

export function adminRefundsQuery(status: RefundStatus | undefined) {
  return infiniteQueryOptions({
    queryKey: [...BOOKS, 'refunds', status ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.get('/admin/refunds', {
        query: {
          limit: PAGE,
          ...(status === undefined ? {} : { status }),
          ...(pageParam === undefined ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    ...cursorPages,
  })
}

/** Refunds in progress that wait for a transfer by hand; the API lists them among the others. */
export const byHandQuery = queryOptions({
  queryKey: [...BOOKS, 'refunds', 'by-hand'],
  queryFn: async ({ signal }) => {
    const lists = await Promise.all(
      (['approved', 'processing'] as const).map((status) => listAll(status, signal)),
    )
    return lists.flat().filter(({ manual_parts: parts }) => parts.length > 0)
  },
})

async function listAll(status: RefundStatus, signal: AbortSignal): Promise<OperatedRefund[]> {
  const found: OperatedRefund[] = []
  for (let cursor: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page names the next
    const page = await api.get('/admin/refunds', {
      query: { status, limit: PAGE_MAX, cursor },
      signal,
    })
    found.push(...page.refunds)
    if (page.next_cursor === null) return found
    cursor = page.next_cursor
  }
}
