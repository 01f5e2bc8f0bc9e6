import { queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../api/client.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export type Destination = Answer<'get', '/usage/destinations'>['destinations'][number]
export type DestinationKind = Destination['kind']
export type DestinationInput = Body<'post', '/usage/destinations'>
export type DestinationChange = Body<'patch', '/usage/destinations/{id}'>

export const KIND_WORDS = perLanguage((): Readonly<Record<DestinationKind, string>> => ({
  langfuse: t('Langfuse'),
  otlp: t('Coletor OTLP'),
}))

/** Polled while a test is on its way. */
const POLL_MS = 2_000
/** As many as an account may have. */
export const DESTINATIONS_MAX = 3

export const DESTINATIONS = ['usage-destinations'] as const

export const destinationsQuery = queryOptions({
  queryKey: DESTINATIONS,
  queryFn: ({ signal }) => api.get('/usage/destinations', { signal }),
  refetchInterval: ({ state }) => (state.data?.destinations.some(isTestRunning) ? POLL_MS : false),
})

export function isTestRunning({ test, is_enabled }: Destination): boolean {
  return is_enabled && test !== null && test.tested_at === null
}
