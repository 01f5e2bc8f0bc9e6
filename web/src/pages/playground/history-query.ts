import { queryOptions } from '@tanstack/react-query'
import { listSaved } from './history.ts'

export const HISTORY = ['playground-history'] as const

export function historyQuery(customerId: string) {
  return queryOptions({
    queryKey: [...HISTORY, customerId],
    queryFn: () => listSaved(customerId),
    // No network: it is in this browser.
    networkMode: 'always',
  })
}
