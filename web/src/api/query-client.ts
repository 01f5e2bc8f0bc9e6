import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'

/** A refusal is final; a network failure or a server error may pass on a retry. */
const TRIES_MAX = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) =>
        failures < TRIES_MAX &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 502),
    },
    mutations: { retry: false },
  },
})
