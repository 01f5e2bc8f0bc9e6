/**
 * Incidents: the public notices that something does not work. Operators open them by hand; circuit breakers open
 * theirs in `breaker-incidents.ts`. Titles and messages are in Portuguese and never name an upstream; vendors and
 * models are named as in the catalog.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../audit-log/audited.ts'
import { exactTime, isBefore } from '../db/exact-time.ts'
import type { Database } from '../db/open.ts'
import type { IncidentSeverity, IncidentSource } from '../db/tables.ts'
import { createId } from '../lib/ids.ts'

export const INCIDENT_SEVERITIES = ['minor', 'major', 'critical'] as const
/** The most characters of a title, as the check constraint of the table has it. */
export const INCIDENT_TITLE_MAX = 200
export const INCIDENT_MESSAGE_MAX = 2_000

export interface Incident {
  readonly id: string
  readonly source: IncidentSource
  /** The upstream or route that a breaker watches; shown to operators only. */
  readonly subject: string | null
  readonly severity: IncidentSeverity
  readonly title: string
  /** The newest message. */
  readonly message: string
  readonly vendors: readonly string[]
  readonly modelIds: readonly string[]
  readonly openedAt: Date
  /** `openedAt` with microseconds, for page cursors. */
  readonly exactOpenedAt: string
  readonly updatedAt: Date
  readonly resolvedAt: Date | null
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[]
}

export interface IncidentUpdate {
  readonly status: 'opened' | 'updated' | 'resolved'
  readonly severity: IncidentSeverity
  readonly message: string | null
  readonly createdAt: Date
}

export interface IncidentInput {
  readonly severity: IncidentSeverity
  readonly title: string
  readonly message: string
  readonly vendors: readonly string[]
  readonly modelIds: readonly string[]
}

/** Returns the id of the new incident. */
export function openIncident(db: Database, actor: Actor, input: IncidentInput): Promise<string> {
  return audited(db, actor, async (trx, record) => {
    const id = await insertIncident(trx, input)
    const details = { severity: input.severity, models: input.modelIds, vendors: input.vendors }
    await record({ action: 'incident.opened', customerId: null, subjectId: id, details })
    return id
  })
}

async function insertIncident(trx: Database, input: IncidentInput): Promise<string> {
  const id = createId()
  await sql`
    with opened as (
      insert into incidents (id, source, severity, title, message, vendors, model_ids)
      values (${id}, 'operator', ${input.severity}, ${input.title}, ${input.message},
        ${[...input.vendors]}, ${[...input.modelIds]})
      returning id, severity, message
    )
    insert into incident_updates (id, incident_id, status, severity, message)
    select ${createId()}, id, 'opened', severity, message from opened`.execute(trx)
  return id
}

/** A change of an incident. Fields that are set replace the stored ones. */
export interface IncidentChange {
  readonly id: string
  readonly title?: string | undefined
  readonly message?: string | undefined
  readonly severity?: IncidentSeverity | undefined
}

export function updateIncident(
  db: Database,
  actor: Actor,
  input: IncidentChange,
): Promise<'updated' | 'already_resolved' | 'incident_not_found'> {
  return changeIncident(db, actor, 'updated', input)
}

/** Resolves an incident. A breaker that still reports the same subject opens a new one with its next report. */
export function resolveIncident(
  db: Database,
  actor: Actor,
  input: IncidentChange,
): Promise<'resolved' | 'already_resolved' | 'incident_not_found'> {
  return changeIncident(db, actor, 'resolved', input)
}

const CHANGE_FIELDS = ['title', 'message', 'severity'] as const

function changeIncident<Status extends 'updated' | 'resolved'>(
  db: Database,
  actor: Actor,
  status: Status,
  input: IncidentChange,
): Promise<Status | 'already_resolved' | 'incident_not_found'> {
  const id = input.id.toLowerCase()
  return audited(db, actor, async (trx, record) => {
    if (!(await changeOpen(trx, status, { ...input, id }))) return whyNotChanged(trx, id)
    const details = { fields: CHANGE_FIELDS.filter((field) => input[field] !== undefined) }
    await record({ action: `incident.${status}`, customerId: null, subjectId: id, details })
    return status
  })
}

async function changeOpen(
  db: Database,
  status: 'updated' | 'resolved',
  input: IncidentChange,
): Promise<boolean> {
  const { id, title = null, message = null, severity = null } = input
  const { rows } = await sql<{ incident_id: string }>`
    with changed as (
      update incidents set
        title = coalesce(${title}::text, title),
        message = coalesce(${message}::text, message),
        severity = coalesce(${severity}::incident_severity, severity),
        updated_at = now(),
        resolved_at = case ${status}::text when 'resolved' then now() end
      where id::text = ${id} and resolved_at is null
      returning id, severity
    )
    insert into incident_updates (id, incident_id, status, severity, message)
    select ${createId()}::uuid, id, ${status}::text, severity, ${message}::text from changed
    returning incident_id`.execute(db)
  return rows.length > 0
}

async function whyNotChanged(
  db: Database,
  id: string,
): Promise<'already_resolved' | 'incident_not_found'> {
  const known = await db
    .selectFrom('incidents')
    .select('id')
    .where(sql<boolean>`id::text = ${id}`)
    .executeTakeFirst()
  return known ? 'already_resolved' : 'incident_not_found'
}

/** Returns incidents with their history, the newest first; all of them if no `limit` is given. */
export async function listIncidents(
  db: Database,
  options: {
    readonly onlyOpen: boolean
    readonly id?: string
    readonly after?: { readonly at: string; readonly id: string } | undefined
    readonly limit?: number
  },
): Promise<Incident[]> {
  const { onlyOpen, id, after, limit } = options
  const { rows } = await sql<IncidentRow>`
    select i.id, i.source, i.subject, i.severity, i.title, i.message, i.vendors, i.model_ids,
      i.opened_at, ${exactTime('i.opened_at')} as exact_opened_at, i.updated_at, i.resolved_at, history.updates
    from incidents i
    cross join lateral (
      select json_agg(u order by u.created_at, u.id) as updates
      from incident_updates u where u.incident_id = i.id
    ) history
    where ${onlyOpen ? sql`i.resolved_at is null` : sql`true`}
      ${id === undefined ? sql`` : sql`and i.id = ${id}`}
      ${after ? sql`and ${isBefore(after, 'i.opened_at', 'i.id')}` : sql``}
    order by i.opened_at desc, i.id desc
    limit ${limit ?? null}`.execute(db)
  return rows.map(toIncident)
}

interface IncidentRow {
  id: string
  source: IncidentSource
  subject: string | null
  severity: IncidentSeverity
  title: string
  message: string
  vendors: string[]
  model_ids: string[]
  opened_at: Date
  exact_opened_at: string
  updated_at: Date
  resolved_at: Date | null
  updates: {
    status: IncidentUpdate['status']
    severity: IncidentSeverity
    message: string | null
    /** JSON has no dates. */
    created_at: string
  }[]
}

function toIncident(row: IncidentRow): Incident {
  return {
    id: row.id,
    source: row.source,
    subject: row.subject,
    severity: row.severity,
    title: row.title,
    message: row.message,
    vendors: row.vendors,
    modelIds: row.model_ids,
    openedAt: row.opened_at,
    exactOpenedAt: row.exact_opened_at,
    updatedAt: row.updated_at,
    resolvedAt: row.resolved_at,
    updates: row.updates.map(({ status, severity, message, created_at }) => ({
      status,
      severity,
      message,
      createdAt: new Date(created_at),
    })),
  }
}
