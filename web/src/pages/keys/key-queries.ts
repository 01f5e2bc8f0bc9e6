import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Query } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type ApiKey = Answer<'get', '/api-keys/{id}'>
export type NewApiKey = Answer<'post', '/api-keys'>
export type KeyStatus = ApiKey['status']
export type Model = Answer<'get', '/models'>['models'][number]

/** The prefix of every query key for API keys. */
export const API_KEYS = ['api-keys'] as const

const PAGE = 50

export const keyListQuery = (status: KeyStatus | undefined, search = '') =>
  infiniteQueryOptions({
    queryKey: [...API_KEYS, status ?? 'all', search],
    queryFn: ({ pageParam, signal }) => {
      const query: Query<'get', '/api-keys'> = {
        limit: PAGE,
        ...(status === undefined ? {} : { status }),
        ...(search === '' ? {} : { q: search }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }
      return api.get('/api-keys', { query, signal })
    },
    ...cursorPages,
  })

/** Reais for a dollar, today; null while no rate is known. */
export const rateQuery = queryOptions({
  queryKey: ['fx-rate'],
  queryFn: async ({ signal }) =>
    (await api.get('/fx-rates', { query: { limit: 1 }, signal })).fx_rates[0]?.rate ?? null,
  staleTime: 5 * 60_000,
})

export const keyModelsQuery = queryOptions({
  queryKey: ['models', 'for-keys'],
  queryFn: async ({ signal }) => (await api.get('/models', { signal })).models,
  staleTime: 5 * 60_000,
})
