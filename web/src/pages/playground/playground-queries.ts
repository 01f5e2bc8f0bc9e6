import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { API_KEYS } from '../keys/key-queries.ts'

export type PayingKey = Awaited<ReturnType<typeof readKeys>>[number]

/** The newest keys: the size of one page of the API. */
const KEYS_SHOWN = 200

export const payingKeysQuery = queryOptions({
  queryKey: [...API_KEYS, 'paying'],
  queryFn: ({ signal }) => readKeys(signal),
})

/** Active but for the balance; asked for only where no key is active. */
export const keysWithoutBalanceQuery = queryOptions({
  queryKey: [...API_KEYS, 'without-balance'],
  queryFn: async ({ signal }) =>
    (await api.get('/api-keys', { query: { status: 'suspended', limit: 1 }, signal })).api_keys,
})

async function readKeys(signal: AbortSignal) {
  const query = { status: 'active', limit: KEYS_SHOWN } as const
  const { api_keys: keys } = await api.get('/api-keys', { query, signal })
  // An operator's key calls no model.
  return keys.filter(({ scope }) => scope !== 'operator')
}
