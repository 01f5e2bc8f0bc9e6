import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'

export type TopUp = Answer<'get', '/topups/{id}'>
export type SavedCard = Answer<'get', '/payment-methods'>['payment_methods'][number]
export type AutomaticTopUpSetting = Answer<'get', '/topups/automatic'>

/** The prefix of every query key for top-ups; a change invalidates all of them. */
export const TOP_UPS = ['topups'] as const

const PAGE = 10
const LOOK_EVERY_MS = 2_500

export const topUpListQuery = infiniteQueryOptions({
  queryKey: [...TOP_UPS, 'list'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/topups', { query: { limit: PAGE, cursor: pageParam }, signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
})

/** Polled until the top-up is final, so that the page shows the payment on its own. */
export const topUpQuery = (id: string) =>
  queryOptions({
    queryKey: [...TOP_UPS, id],
    queryFn: ({ signal }) => api.get('/topups/{id}', { path: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LOOK_EVERY_MS : false),
    refetchOnWindowFocus: 'always',
  })

export const paymentMethodsQuery = queryOptions({
  queryKey: ['payment-methods'],
  queryFn: async ({ signal }) => (await api.get('/payment-methods', { signal })).payment_methods,
})

/** `null`: not configured yet. */
export const automaticTopUpQuery = queryOptions({
  queryKey: ['automatic-topup'],
  async queryFn({ signal }): Promise<AutomaticTopUpSetting | null> {
    // Not by its 404, which a browser reports as an error.
    const { has_automatic_topup: hasOne } = await api.get('/payment-methods', { signal })
    return hasOne ? api.get('/topups/automatic', { signal }) : null
  },
})
