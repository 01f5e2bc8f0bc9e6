import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import type { Filters } from '../../../lib/use-filters.ts'
import { BOOKS } from '../use-act.ts'

export type AuditEntry = Answer<'get', '/admin/audit-log'>['entries'][number]

export const FILTER_NAMES = ['cliente', 'ato', 'de', 'ate'] as const
export type AuditFilters = Filters<(typeof FILTER_NAMES)[number]>

const PAGE = 50

export function auditLogQuery({ cliente, ato, de, ate }: AuditFilters) {
  return infiniteQueryOptions({
    queryKey: [...BOOKS, 'audit-log', cliente, ato, de, ate],
    queryFn: ({ pageParam, signal }) =>
      api.get('/admin/audit-log', {
        query: {
          limit: PAGE,
          customer_id: given(cliente),
          action: given(ato),
          from: given(de),
          to: given(ate),
          cursor: pageParam,
        },
        signal,
      }),
    ...cursorPages,
  })
}

function given(text: string): string | undefined {
  return text === '' ? undefined : text
}
