/**
 * Incidents that circuit breakers open automatically. An incident is a lease: nodes whose breaker is open keep reporting
 * it, and it ends when no node has reported it for `BREAKER_LEASE_SECONDS`. A subject has at most one open incident,
 * however many nodes report it.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

/** The time within which nodes must report again. */
export const BREAKER_LEASE_SECONDS = 60

/**
 * Opens the subject's incident, or refreshes it. `modelIds` (at least one) are the models that customers cannot use now;
 * if they changed, the incident gets an update. The subject is never shown to customers.
 */
export async function reportBreakerOpen(
  db: Database,
  report: {
    nodeId: string
    subject: string
    modelIds: readonly string[]
    vendors: readonly string[]
  },
): Promise<'opened' | 'refreshed'> {
  const { nodeId, subject } = report
  const modelIds = [...new Set(report.modelIds)].sort()
  const vendors = [...new Set(report.vendors)].sort()
  const { title, message } = describeModels(modelIds)
  const isChanged = sql`(stored.model_ids, stored.vendors) is distinct from (excluded.model_ids, excluded.vendors)`
  // A row inserted by this statement has no xmax, which distinguishes a new incident from an existing one.
  const { rows } = await sql<{ is_new: boolean }>`
    with reported as (
      insert into incidents as stored
        (id, source, subject, severity, title, message, vendors, model_ids, seen_at, node_id)
      values (${createId()}, 'breaker', ${subject}, 'major', ${title}, ${message},
        ${vendors}, ${modelIds}, now(), ${nodeId})
      on conflict (subject) where source = 'breaker' and resolved_at is null do update set
        seen_at = now(),
        node_id = excluded.node_id,
        vendors = excluded.vendors,
        model_ids = excluded.model_ids,
        title = case when ${isChanged} then excluded.title else stored.title end,
        message = case when ${isChanged} then excluded.message else stored.message end,
        updated_at = case when ${isChanged} then now() else stored.updated_at end
      returning id, severity, message, xmax = 0 as is_new, updated_at = now() as is_changed
    ), history as (
      insert into incident_updates (id, incident_id, status, severity, message)
      select ${createId()}::uuid, id, case when is_new then 'opened' else 'updated' end, severity, message
      from reported where is_changed
    )
    select is_new from reported`.execute(db)
  return rows[0]?.is_new ? 'opened' : 'refreshed'
}

/** Resolves the subject's incident; `not_open` if there is none. */
export async function reportBreakerClosed(
  db: Database,
  { subject }: { subject: string },
): Promise<'resolved' | 'not_open'> {
  const subjects = await resolveBreakers(db, sql`subject = ${subject}`)
  return subjects.length > 0 ? 'resolved' : 'not_open'
}

/** Resolves incidents that no node reports any more; returns their subjects. */
export async function expireBreakerIncidents(db: Database): Promise<string[]> {
  return resolveBreakers(db, sql`seen_at < now() - make_interval(secs => ${BREAKER_LEASE_SECONDS})`)
}

async function resolveBreakers(db: Database, which: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    with resolved as (
      update incidents set resolved_at = now(), updated_at = now()
      where source = 'breaker' and resolved_at is null and ${which}
      returning id, subject, severity
    ), history as (
      insert into incident_updates (id, incident_id, status, severity)
      select gen_random_uuid(), id, 'resolved', severity from resolved
    )
    select subject from resolved`.execute(db)
  return rows.map((row) => row.subject)
}

const ADVICE =
  'Chamadas sem resposta não são cobradas. Este aviso se encerra sozinho quando o serviço voltar ao normal.'

/** The texts name a single model only; several are listed beside them, so that a message never becomes too long. */
function describeModels(modelIds: readonly string[]): { title: string; message: string } {
  return modelIds.length === 1
    ? {
        title: `Modelo indisponível: ${modelIds[0]}`.slice(0, 200),
        message: `No momento este modelo não está respondendo. ${ADVICE}`,
      }
    : {
        title: 'Modelos indisponíveis',
        message: `No momento os modelos deste aviso não estão respondendo. ${ADVICE}`,
      }
}
