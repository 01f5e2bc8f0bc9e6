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

async function readKeys(signal: AbortSignal) {
  const query = { status: 'active', limit: KEYS_SHOWN } as const
  return (await api.get('/api-keys', { query, signal })).api_keys
}
