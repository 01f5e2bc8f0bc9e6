/** Keeps the balance and the calls of every page as they are: by the server's events, or by asking where they end. */
import { useEffect } from 'react'
import { followAccount, type LiveAccount } from '../api/live.ts'
import { queryClient } from '../api/query-client.ts'
import type { Session } from '../api/session.ts'
import { runwayQuery } from '../pages/home/home-queries.ts'

/** The first parts of the keys of queries that a charge or a payment changes. */
const CHANGED: ReadonlySet<unknown> = new Set([
  'usage',
  'sessions',
  'runway',
  'dashboard-stats',
  'api-keys',
  'topups',
  'trial-credit',
])
/** A busy account has an event every second; each of them would read several lists. */
const REFRESH_MS = 2_000

export function useLiveAccount(session: Session | null | undefined): void {
  const customerId = session?.customer.id
  // A new session of the same customer has a stream of its own.
  const token = session?.csrf_token
  useEffect(() => {
    if (customerId === undefined || token === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const refreshSoon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        refresh()
      }, REFRESH_MS)
    }
    let isFirst = true
    const stop = followAccount(
      customerId,
      (account) => {
        const isKnown = isFirst && isShown(account)
        isFirst = false
        show(account)
        if (!isKnown) refreshSoon()
      },
      refreshSoon,
    )
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [customerId, token])
}

/** The first event after the page was loaded tells nothing new, as a rule. */
function isShown({ balance_brl }: LiveAccount): boolean {
  const runway = queryClient.getQueryData(runwayQuery.queryKey)
  return runway === undefined || runway.balance_brl === balance_brl
}

function show({ balance_brl }: LiveAccount): void {
  queryClient.setQueryData(runwayQuery.queryKey, (runway) => runway && { ...runway, balance_brl })
}

function refresh(): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) => CHANGED.has(queryKey[0]) && !hasFurtherPages(state.data),
  })
}

/** A list whose older pages somebody reads stays in its place. */
function hasFurtherPages(data: unknown): boolean {
  const pages =
    typeof data === 'object' && data !== null && 'pages' in data ? data.pages : undefined
  return Array.isArray(pages) && pages.length > 1
}
