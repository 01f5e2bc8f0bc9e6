import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type Charge = Answer<'get', '/usage/events'>['usage_events'][number]
export type KeyUsage = Answer<'get', '/usage/by-key'>['keys'][number]

export type Balance = Answer<'get', '/usage'>['balance']

export interface ChargeFilters {
  readonly modelo: string
  readonly chave: string
  readonly sessao: string
  readonly de: string
  readonly ate: string
}

const PAGE = 50
/** Where the server's events do not arrive; with them, new charges come at once. */
const REFRESH_MS = 15_000
/** How many days back keys and models are offered as filters. */
const CHOICE_DAYS = 90

export function chargesQuery({ modelo, chave, sessao, de, ate }: ChargeFilters) {
  const filters = {
    ...(modelo === '' ? {} : { model_id: modelo }),
    ...(chave === '' ? {} : { api_key_id: chave }),
    ...(sessao === '' ? {} : { session_id: sessao }),
    ...(de === '' ? {} : { from: de }),
    ...(ate === '' ? {} : { to: ate }),
  }
  return infiniteQueryOptions({
    queryKey: ['usage', 'events', filters],
    queryFn: ({ pageParam, signal }) =>
      api.get('/usage/events', {
        query: {
          limit: PAGE,
          ...filters,
          ...(pageParam === undefined ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    ...cursorPages,
    // Polls for new charges until the user loads further pages.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFRESH_MS : false),
  })
}

export const balanceQuery = queryOptions({
  queryKey: ['usage', 'balance'],
  queryFn: async ({ signal }) => (await api.get('/usage', { signal })).balance,
})

export function usageByKeyQuery(days: number) {
  return queryOptions({
    queryKey: ['usage', 'by-key', days],
    queryFn: ({ signal }) => api.get('/usage/by-key', { query: { days }, signal }),
  })
}

export const keysToChooseQuery = usageByKeyQuery(CHOICE_DAYS)

/** The used models, the highest cost first. */
export const modelsToChooseQuery = queryOptions({
  queryKey: ['usage', 'models', CHOICE_DAYS],
  queryFn: async ({ signal }) => {
    const { models } = await api.get('/me/recommendations', {
      query: { days: CHOICE_DAYS },
      signal,
    })
    return models.map(({ model_id: id, model_name: name }) => ({ id, name }))
  },
})
