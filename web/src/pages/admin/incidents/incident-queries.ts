import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../../api/client.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { SERVICE } from '../use-act.ts'

export type Incident = Answer<'get', '/admin/incidents'>['incidents'][number]
export type IncidentInput = Body<'post', '/admin/incidents'>
export type IncidentChange = Body<'patch', '/admin/incidents/{id}'>
export type Severity = Incident['severity']

const REFRESH_MS = 60_000

export function incidentsQuery(status: 'open' | 'all') {
  return infiniteQueryOptions({
    queryKey: [...SERVICE, 'incidents', status],
    queryFn: ({ pageParam, signal }) =>
      api.get('/admin/incidents', { query: { status, limit: 20, cursor: pageParam }, signal }),
    ...cursorPages,
    refetchInterval: REFRESH_MS,
  })
}

/** The queries that a change of an incident invalidates, including the public status page. */
export const INCIDENTS_CHANGE = [SERVICE, ['incidents']] as const
