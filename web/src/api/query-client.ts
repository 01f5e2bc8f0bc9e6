import { MutationCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { hashForOwner, ofEverybody } from './cache-owner.ts'

/** A refusal is final; a network failure or a server error may pass on a retry. */
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
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 502),
    },
    mutations: { retry: false },
  },
})
// The session says who the owner is, so its own key cannot depend on it.
queryClient.setQueryDefaults(SESSION_KEY, ofEverybody)
