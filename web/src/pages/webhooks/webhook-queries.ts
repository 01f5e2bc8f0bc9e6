import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type Webhook = Answer<'get', '/webhooks'>['webhooks'][number]
export type WebhookInput = Body<'post', '/webhooks'>
export type EventTypes = Webhook['event_types']
export type WebhookWithSecret = Answer<'post', '/webhooks'>
export type Attempt = Answer<'get', '/webhooks/{id}/attempts'>['attempts'][number]
export type AttemptStatus = Attempt['status']

const PAGE = 50
/** Polled while an attempt is queued or running. */
const POLL_MS = 2_000

export const WEBHOOKS = ['webhooks'] as const

export const webhooksQuery = queryOptions({
  queryKey: [...WEBHOOKS, 'list'],
  queryFn: ({ signal }) => api.get('/webhooks', { signal }),
})

export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: [...WEBHOOKS, 'one', id],
    queryFn: ({ signal }) => api.get('/webhooks/{id}', { path: { id }, signal }),
  })
}

export const eventTypesQuery = queryOptions({
  queryKey: [...WEBHOOKS, 'event-types'],
  queryFn: ({ signal }) => api.get('/webhooks/event-types', { signal }),
  staleTime: Infinity,
})

export function attemptsQuery(id: string, status: AttemptStatus | undefined) {
  return infiniteQueryOptions({
    queryKey: [...WEBHOOKS, 'attempts', id, status ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.get('/webhooks/{id}/attempts', {
        path: { id },
        query: {
          limit: PAGE,
          ...(status === undefined ? {} : { status }),
          ...(pageParam === undefined ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    ...cursorPages,
    refetchInterval: ({ state }) => {
      const [first, ...others] = state.data?.pages ?? []
      return others.length === 0 && first?.attempts.some(isSoon) ? POLL_MS : false
    },
  })
}

/** The sent message never changes; the end of the attempt changes its status, and so the query key. */
export function attemptQuery({ delivery_id: id, status }: Attempt) {
  return queryOptions({
    queryKey: [...WEBHOOKS, 'attempt', id, status],
    queryFn: ({ signal }) =>
      api.get('/webhooks/attempts/{attemptId}', { path: { attemptId: id }, signal }),
  })
}

function isSoon({ status, due_at }: Attempt): boolean {
  return (
    status === 'running' || (status === 'queued' && Date.parse(due_at) < Date.now() + 2 * POLL_MS)
  )
}
