/**
 * The requests for each operation: without parameters, with the widest window or page that its schema allows,
 * the last page of a list, and with each of its filters. They are generated from the server's OpenAPI
 * description; a parameter without a known value throws, so that no new operation is silently left out.
 */
import { openPaths, type Described, type Parameter } from './read-operations.ts'

/** The ids of this caller's resources. */
export interface CallerIds {
  readonly promptId: string
  readonly sessionId: string
  readonly teamId: string
  readonly keyId: string
  readonly topUpId: string
  readonly refundId: string
  readonly alertId: string
  readonly webhookId: string
  readonly attemptId: string
  /** The caller's own. */
  readonly customerId: string
  /** The first and the last day of the history, `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
}

export interface PlannedRead {
  readonly path: string
  readonly label: 'default' | 'widest' | 'last page' | `${string}=${string}`
  readonly url: string
  readonly isExport: boolean
}

/** The value of an `{…}` in a path, by the segment before it. */
const PATH_VALUES: Record<string, (ids: CallerIds) => string> = {
  prompts: (ids) => ids.promptId,
  sessions: (ids) => ids.sessionId,
  teams: (ids) => ids.teamId,
  'api-keys': (ids) => ids.keyId,
  versions: () => '1',
  topups: (ids) => ids.topUpId,
  refunds: (ids) => ids.refundId,
  alerts: (ids) => ids.alertId,
  webhooks: (ids) => ids.webhookId,
  attempts: (ids) => ids.attemptId,
  customers: (ids) => ids.customerId,
}

/** The widest value of a query field that is not an integer with a maximum; by path, if the path allows less. */
const WIDEST: Record<string, (ids: CallerIds) => string> = {
  from: (ids) => ids.from,
  to: (ids) => ids.to,
  // At most 92 days.
  '/admin/margins from': (ids) => daysBefore(ids.to, 91),
}

/** The filter values for lists: a rare one, and one that matches nothing. */
const FILTERS: Record<string, (ids: CallerIds, path: string) => readonly string[]> = {
  api_key_id: (ids) => [ids.keyId, NOBODY],
  model_id: () => ['whisper-1', 'no-such-model'],
  session_id: (ids) => [ids.sessionId, 'no-such-session'],
  status: (_ids, path) => STATUSES[path] ?? ['failed', 'queued'],
  tag: () => ['bench', 'none'],
  q: () => ['199', 'none'],
  customer_id: (ids) => [ids.customerId, NOBODY],
  action: () => ['audit_log.', 'none.'],
}
const STATUSES: Record<string, readonly string[]> = {
  '/api-keys': ['revoked'],
  '/admin/adjustments': ['pending', 'rejected'],
  '/admin/incidents': ['open'],
  '/admin/refunds': ['rejected', 'requested'],
}
const NOBODY = '00000000-0000-7000-8000-00000000ffff'
const CURSOR = 'cursor'

export function planReads(
  operations: readonly Described[],
  ids: CallerIds,
): { reads: PlannedRead[]; paged: PlannedRead[] } {
  const faults: string[] = []
  const reads: PlannedRead[] = []
  const paged: PlannedRead[] = []
  for (const { path, parameters, isExport } of operations) {
    const filled = openPaths(path, (before) => PATH_VALUES[before]?.(ids))
    if (filled === undefined) {
      faults.push(`GET ${path}: what its id stands for is missing in PATH_VALUES of plan-reads.ts`)
      continue
    }
    const query = widestQuery(path, parameters, ids, faults)
    const widest = `${filled}?${new URLSearchParams(query).toString()}`
    reads.push({ path, label: 'default', url: filled, isExport })
    if (Object.keys(query).length > 0) reads.push({ path, label: 'widest', url: widest, isExport })
    const fields = new Set(parameters.flatMap((one) => (one.in === 'query' ? [one.name] : [])))
    if (fields.has(CURSOR)) paged.push({ path, label: 'last page', url: widest, isExport })
    for (const [name, valuesOf] of Object.entries(FILTERS)) {
      for (const value of fields.has(name) ? valuesOf(ids, path) : []) {
        const url = `${filled}?${new URLSearchParams({ ...query, [name]: value }).toString()}`
        reads.push({ path, label: `${name}=${value}`, url, isExport })
      }
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return { reads, paged }
}

function widestQuery(
  path: string,
  parameters: readonly Parameter[],
  ids: CallerIds,
  faults: string[],
): Record<string, string> {
  const query: Record<string, string> = {}
  for (const { name, in: place, schema } of parameters) {
    if (place !== 'query' || name === CURSOR || FILTERS[name]) continue
    const widest = (WIDEST[`${path} ${name}`] ?? WIDEST[name])?.(ids) ?? schema.maximum?.toString()
    if (widest === undefined)
      faults.push(`GET ${path}: "${name}" is missing in WIDEST or FILTERS of plan-reads.ts`)
    else query[name] = widest
  }
  return query
}

function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10)
}
