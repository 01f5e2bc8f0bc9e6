import { MutationCache, onlineManager, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { hashForOwner, ofEverybody } from './cache-owner.ts'

/** A refusal is final; a network failure or a server error may pass on a retry, unless there is no network at all. */
const TRIES_MAX = 2

export const SESSION_KEY = ['session'] as const

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    // Any act may change any page: the next one that is opened reads its data again.
    onSettled: () => void queryClient.invalidateQueries({ refetchType: 'none' }),
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      queryKeyHashFn: hashForOwner,
      retry: (failures, error) =>
        failures < TRIES_MAX &&
        onlineManager.isOnline() &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 502),
      // Without a network they fail, and the page says so. By default they would wait for it, without a word.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    // An act that cannot be sent now is never sent: the user may have given it up when the network is back.
    mutations: { retry: false, networkMode: 'always' },
  },
})
// The session says who the owner is, so its own key cannot depend on it.
queryClient.setQueryDefaults(SESSION_KEY, ofEverybody)
