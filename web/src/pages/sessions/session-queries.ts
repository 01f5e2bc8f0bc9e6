import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type Session = Answer<'get', '/me/sessions'>['sessions'][number]

const PAGE = 50
const EVENTS_PAGE = 200

export function sessionsQuery(days: number) {
  return infiniteQueryOptions({
    queryKey: ['sessions', 'list', days],
    queryFn: ({ pageParam, signal }) =>
      api.get('/me/sessions', {
        query: { days, limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        signal,
      }),
    ...cursorPages,
  })
}

export function sessionQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['sessions', 'one', id],
    queryFn: ({ pageParam, signal }) =>
      api.get('/me/sessions/{id}', {
        path: { id },
        query: { limit: EVENTS_PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        signal,
      }),
    ...cursorPages,
  })
}
