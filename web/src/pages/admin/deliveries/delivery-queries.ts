import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { SERVICE } from '../use-act.ts'

export type FailingMail = Answer<'get', '/admin/mails/in-trouble'>['mails'][number]
export type FailingWebhook = Answer<'get', '/admin/webhooks/in-trouble'>['webhooks'][number]

const AT_ONCE = 20

export const failingMailsQuery = infiniteQueryOptions({
  queryKey: [...SERVICE, 'mails-in-trouble'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/admin/mails/in-trouble', { query: { limit: AT_ONCE, cursor: pageParam }, signal }),
  ...cursorPages,
})

export const failingWebhooksQuery = infiniteQueryOptions({
  queryKey: [...SERVICE, 'webhooks-in-trouble'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/admin/webhooks/in-trouble', { query: { limit: AT_ONCE, cursor: pageParam }, signal }),
  ...cursorPages,
})
