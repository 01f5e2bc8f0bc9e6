import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { BOOKS } from '../use-act.ts'

export type ListedCustomer = Answer<'get', '/admin/customers'>['customers'][number]
export type CustomerDetail = Answer<'get', '/admin/customers/{id}'>

const PAGE = 50
/** The audit log records each reading, so nothing is refetched when the window regains the focus. */
const ONCE = { refetchOnWindowFocus: false, refetchOnReconnect: false, staleTime: 60_000 }

export function customersQuery(q: string) {
  return infiniteQueryOptions({
    queryKey: [...BOOKS, 'customers', q],
    queryFn: ({ pageParam, signal }) =>
      api.get('/admin/customers', {
        query: {
          limit: PAGE,
          ...(q === '' ? {} : { q }),
          ...(pageParam === undefined ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    ...cursorPages,
    ...ONCE,
  })
}

export function customerQuery(id: string) {
  return queryOptions({
    queryKey: [...BOOKS, 'customer', id],
    queryFn: ({ signal }) => api.get('/admin/customers/{id}', { path: { id }, signal }),
    ...ONCE,
  })
}
