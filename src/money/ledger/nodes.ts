/** Dead nodes and their orphaned holds. `lease.ts` describes how a node stays alive. */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { LEASE_SECONDS } from './lease.ts'

export interface NodeState {
  readonly id: string
  readonly startedAt: Date
  readonly seenAt: Date
  readonly stoppedAt: Date | null
  /** It holds its lease: its heartbeat is recent, and it neither stopped nor was fenced. */
  readonly isAlive: boolean
  readonly openHolds: number
  /** The processes of one server have the same; null where one process is the whole server. */
  readonly serverId: string | null
  /** 0: the parent, which answers no requests. */
  readonly worker: number | null
  /** Null for a node that was opened without a release. */
  readonly version: string | null
  readonly build: string | null
}

interface HoldsState {
  readonly count: number
  readonly oldestAt: Date | null
}

const HOURS_SHOWN = 24
const NODES_MAX = 50

/** Returns the nodes that are alive, were alive in the last day, or have open holds; the newest first. */
export async function listNodes(db: Database): Promise<NodeState[]> {
  const { rows } = await sql<NodeState>`
    select n.id, n.started_at as "startedAt", n.seen_at as "seenAt", n.stopped_at as "stoppedAt",
      n.stopped_at is null and n.fenced_at is null and n.seen_at > now() - make_interval(secs => ${LEASE_SECONDS}) as "isAlive",
      coalesce(h.open, 0)::int4 as "openHolds", n.server_id as "serverId", n.worker,
      n.version, n.build
    from nodes n left join (select node_id, count(*) as open from holds group by 1) h on h.node_id = n.id
    where n.seen_at > now() - make_interval(hours => ${HOURS_SHOWN}) or h.open > 0
    order by "isAlive" desc, n.started_at desc, n.id limit ${NODES_MAX}`.execute(db)
  return rows
}

export async function readOpenHolds(db: Database): Promise<HoldsState> {
  const { rows } = await sql<HoldsState>`
    select count(*)::int4 as count, min(created_at) as "oldestAt" from holds`.execute(db)
  return rows[0] as HoldsState
}

/** A hold whose node never registered is orphaned after this time. */
const UNREGISTERED_SECONDS = 60

export interface OpenHold {
  readonly id: string
  readonly customerId: string
  readonly modelId: string
  readonly priceId: number
  readonly fxRateE4: bigint
  readonly markupE4: bigint
  readonly amountNanoBrl: bigint
  readonly promptTokensEstimated: number
  readonly hasOutputBegun: boolean
  readonly outputTokensSeen: number
}

/**
 * Fences silent nodes and returns their ids. The update and the heartbeat contend for the row: a node whose heartbeat
 * comes first is not fenced, and a fenced node cannot renew its lease. A database that was started less than a lease
 * ago fences no node: its nodes may still be connecting.
 */
export async function fenceSilentNodes(db: Database, ownNodeId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update nodes set fenced_at = clock_timestamp()
    where id <> ${ownNodeId} and stopped_at is null and fenced_at is null
      and seen_at < clock_timestamp() - make_interval(secs => ${LEASE_SECONDS})
      and pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => ${LEASE_SECONDS})
    returning id`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * Fences the nodes of a process that is known to be gone: only its parent, which saw it end, may say so. Their holds are
 * orphaned at once, without the wait for a silent node's lease.
 */
export async function fenceEndedProcess(db: Database, processId: string): Promise<void> {
  await sql`
    update nodes set fenced_at = clock_timestamp()
    where process_id = ${processId} and stopped_at is null and fenced_at is null`.execute(db)
}

/** The upstream works on, whatever becomes of the node: a job resolves the hold. */
const IS_OF_JOB = sql`exists (select from videos v where v.id = h.id and v.due_at is not null)`

/**
 * Returns orphaned holds: those of nodes that were fenced, stopped, or never registered. They are sorted by id, after
 * `afterId`. No node that holds a lease can still deliver for them. With `processId`, only those of this process are
 * returned.
 */
export async function listOrphanedHolds(
  db: Database,
  page: { afterId: string | undefined; limit: number; processId?: string | undefined },
): Promise<OpenHold[]> {
  const { rows } = await sql<HoldRow>`
    select h.* from holds h
    left join nodes n on n.id = h.node_id
    where (n.fenced_at is not null or n.stopped_at is not null
      or n.id is null and h.created_at < now() - make_interval(secs => ${UNREGISTERED_SECONDS}))
      and not ${IS_OF_JOB}
      and (${page.processId ?? null}::uuid is null or n.process_id = ${page.processId ?? null})
      and h.id > ${page.afterId ?? NIL}
    order by h.id
    limit ${page.limit}`.execute(db)
  return rows.map(toOpenHold)
}

/** Returns this node's open holds that are older than `olderThanSeconds`. */
export async function listOwnHolds(
  db: Database,
  nodeId: string,
  olderThanSeconds: number,
): Promise<OpenHold[]> {
  const { rows } = await sql<HoldRow>`
    select * from holds h
    where node_id = ${nodeId} and created_at < now() - make_interval(secs => ${olderThanSeconds})
      and not ${IS_OF_JOB}`.execute(db)
  return rows.map(toOpenHold)
}

const NIL = '00000000-0000-0000-0000-000000000000'

interface HoldRow {
  id: string
  customer_id: string
  model_id: string
  price_id: number
  fx_rate_e4: number
  markup_e4: number
  amount_nano_brl: bigint
  prompt_tokens_estimated: number
  output_began_at: Date | null
  output_tokens_seen: number
}

function toOpenHold(row: HoldRow): OpenHold {
  return {
    id: row.id,
    customerId: row.customer_id,
    modelId: row.model_id,
    priceId: row.price_id,
    fxRateE4: BigInt(row.fx_rate_e4),
    markupE4: BigInt(row.markup_e4),
    amountNanoBrl: row.amount_nano_brl,
    promptTokensEstimated: row.prompt_tokens_estimated,
    hasOutputBegun: row.output_began_at !== null,
    outputTokensSeen: row.output_tokens_seen,
  }
}

/**
 * What became of a hold. Undefined: it was lost in a crash of the database, and nothing is charged for it. A charge that
 * waits in a spool leaves its hold open.
 */
export async function findOutcome(
  db: Database,
  holdId: string,
): Promise<'open' | 'charged' | 'released' | undefined> {
  const { rows } = await sql<{ outcome: 'open' | 'charged' | 'released' }>`
    select 'open' as outcome from holds where id = ${holdId}
    union all
    select outcome::text from usage_events where id = ${holdId}`.execute(db)
  return rows[0]?.outcome
}
