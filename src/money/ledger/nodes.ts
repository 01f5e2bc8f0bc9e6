/** Dead nodes and their orphaned holds. `lease.ts` describes how a node stays alive. */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { LEASE_SECONDS } from './lease.ts'

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
    select * from holds
    where node_id = ${nodeId} and created_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(
    db,
  )
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
