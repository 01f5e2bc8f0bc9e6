import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Query } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type Charge = Answer<'get', '/usage/events'>['usage_events'][number]
export type Call = Answer<'get', '/usage/calls'>['calls'][number]
export type Spend = Answer<'get', '/usage/spend'>
export type Grouping = NonNullable<Query<'get', '/usage/spend'>['by']>
export type Refusals = Answer<'get', '/usage/refusals'>
export type RefusalsOfHour = Answer<'get', '/usage/refusals/by-hour'>['refusals'][number]
export type KeyUsage = Answer<'get', '/usage/by-key'>['keys'][number]

export type Balance = Answer<'get', '/usage'>['balance']

export interface ChargeFilters {
  readonly modelo: string
  readonly chave: string
  readonly sessao: string
  /** `cobrada` or `falha`. */
  readonly situacao: string
  readonly de: string
  readonly ate: string
}

/** As in the URL, with the days of the period. */
export interface RefusalFilters {
  readonly modelo: string
  readonly chave: string
  /** A code. */
  readonly motivo: string
  readonly de: string
  readonly ate: string
}

const PAGE = 50
/** The largest page of the API, for files. */
export const FILE_PAGE = 200
const STATUSES = new Map<string, 'charged' | 'failed'>([
  ['cobrada', 'charged'],
  ['falha', 'failed'],
])
/** Where the server's events do not arrive; with them, new charges come at once. */
const REFRESH_MS = 15_000
/** How many days back keys and models are offered as filters. */
const CHOICE_DAYS = 90

function queryOf({ modelo, chave, sessao, situacao, de, ate }: ChargeFilters) {
  return {
    // What is none of the two is asked for as it is, and refused: it must not show everything.
    ...(situacao === '' ? {} : { status: STATUSES.get(situacao) ?? (situacao as 'charged') }),
    ...(modelo === '' ? {} : { model_id: modelo }),
    ...(chave === '' ? {} : { api_key_id: chave }),
    ...(sessao === '' ? {} : { session_id: sessao }),
    ...(de === '' ? {} : { from: de }),
    ...(ate === '' ? {} : { to: ate }),
  }
}

export function readCalls(
  filters: ChargeFilters,
  { cursor, limit, signal }: { cursor?: string | undefined; limit: number; signal: AbortSignal },
) {
  const query = { limit, ...queryOf(filters), ...(cursor === undefined ? {} : { cursor }) }
  return api.get('/usage/calls', { query, signal })
}

export function chargesQuery(filters: ChargeFilters) {
  return infiniteQueryOptions({
    queryKey: ['usage', 'calls', queryOf(filters)],
    queryFn: ({ pageParam, signal }) =>
      readCalls(filters, { cursor: pageParam, limit: PAGE, signal }),
    ...cursorPages,
    // Polls for new charges until the user loads further pages.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFRESH_MS : false),
  })
}

function refusalQueryOf({ modelo, chave, motivo, de, ate }: RefusalFilters) {
  return {
    from: de,
    to: ate,
    ...(modelo === '' ? {} : { model_id: modelo }),
    ...(chave === '' ? {} : { api_key_id: chave }),
    ...(motivo === '' ? {} : { code: motivo }),
  }
}

export function refusalsQuery(filters: RefusalFilters) {
  const query = refusalQueryOf(filters)
  return queryOptions({
    queryKey: ['usage', 'refusals', query],
    queryFn: ({ signal }) => api.get('/usage/refusals', { query, signal }),
    refetchInterval: REFRESH_MS,
  })
}

export function refusalsByHourQuery(filters: RefusalFilters) {
  const query = refusalQueryOf(filters)
  return infiniteQueryOptions({
    queryKey: ['usage', 'refusals', 'by-hour', query],
    queryFn: ({ pageParam, signal }) =>
      api.get('/usage/refusals/by-hour', {
        query: { limit: PAGE, ...query, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        signal,
      }),
    ...cursorPages,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFRESH_MS : false),
  })
}

export const balanceQuery = queryOptions({
  queryKey: ['usage', 'balance'],
  queryFn: async ({ signal }) => (await api.get('/usage', { signal })).balance,
})

export function spendQuery(by: Grouping, from: string, to: string) {
  return queryOptions({
    queryKey: ['usage', 'spend', by, from, to],
    queryFn: ({ signal }) => api.get('/usage/spend', { query: { by, from, to }, signal }),
  })
}

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
