/**
 * Starts a page's first requests while its code still loads, so that it appears complete. Called by the loaders
 * of router.tsx. A failed request is repeated by the page, which shows the error.
 */
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { setZone } from './format/date.ts'
import { followAccount } from './language/chosen-language.ts'
import { filtersOf } from './lib/use-filters.ts'
import {
  byDayQuery,
  FIRST_DAYS,
  runwayQuery,
  statsQuery,
  summaryQuery,
} from './pages/home/home-queries.ts'
import { keyListQuery } from './pages/keys/key-queries.ts'
import { catalogQuery } from './pages/models/catalog-query.ts'
import { speedQuery, speedsQuery } from './pages/models/speed-queries.ts'
import { recommendationsQuery } from './pages/models/recommendations-query.ts'
import { preferencesQuery } from './pages/profile/profile-queries.ts'
import { upstreamHealthQuery } from './pages/status/health-queries.ts'
import { trialCreditQuery } from './pages/trial-credit/trial-credit-query.ts'
import {
  balanceQuery,
  chargesQuery,
  keysToChooseQuery,
  modelsToChooseQuery,
} from './pages/usage/usage-queries.ts'

type Search = Readonly<Record<string, unknown>>

/** The only one that navigation waits for: the first page shown must already be in the account's language and time zone. */
export async function loadPreferences(): Promise<void> {
  const preferences = await queryClient.ensureQueryData(preferencesQuery).catch(() => undefined)
  if (!preferences) return
  setZone(preferences.timezone)
  await followAccount(preferences.preferred_locale).catch(() => {})
}

export function prefetchHome(): void {
  void queryClient.prefetchQuery(byDayQuery)
  void queryClient.prefetchQuery(statsQuery)
  void queryClient.prefetchQuery(runwayQuery)
  void queryClient.prefetchQuery(summaryQuery(FIRST_DAYS))
  void queryClient.prefetchQuery(trialCreditQuery)
}

/** The page waits for it. */
export function prefetchTopUps(): void {
  void queryClient.prefetchQuery(balanceQuery)
  void queryClient.prefetchQuery(trialCreditQuery)
}

export function prefetchUsage(search: Search): void {
  void queryClient.prefetchQuery(balanceQuery)
  if (search.ver !== undefined) return
  const filters = filtersOf(search, 'modelo', 'chave', 'sessao', 'situacao', 'de', 'ate')
  void queryClient.prefetchInfiniteQuery(chargesQuery(filters))
  void queryClient.prefetchQuery(keysToChooseQuery)
  void queryClient.prefetchQuery(modelsToChooseQuery)
}

export function prefetchKeys(search: Search): void {
  if (search.situacao === undefined) void queryClient.prefetchInfiniteQuery(keyListQuery(undefined))
}

export function prefetchModel(id: string): void {
  prefetchCatalog()
  void queryClient.prefetchQuery(speedQuery(id))
}

export function prefetchModels(): void {
  prefetchCatalog()
  void queryClient.prefetchQuery(speedsQuery)
  void prefetchRecommendations()
}

function prefetchCatalog(): void {
  void queryClient.prefetchQuery(catalogQuery)
  void queryClient.prefetchQuery(upstreamHealthQuery)
}

/** Visitors have no recommendations. */
async function prefetchRecommendations(): Promise<void> {
  await queryClient.prefetchQuery(sessionQuery)
  if (queryClient.getQueryData(sessionQuery.queryKey))
    await queryClient.prefetchQuery(recommendationsQuery)
}
