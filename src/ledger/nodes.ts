/** Nodes: one row for each start of a server process, kept alive by a heartbeat. */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

/** A node not seen for this long is dead, and its holds are resolved by the others. */
export const NODE_DEAD_AFTER_SECONDS = 20
export const HEARTBEAT_MS = 5_000

export async function registerNode(db: Database, nodeId: string): Promise<void> {
  await db.insertInto('nodes').values({ id: nodeId, stopped_at: null }).execute()
}

export async function beat(db: Database, nodeId: string): Promise<void> {
  await sql`update nodes set seen_at = now() where id = ${nodeId}`.execute(db)
}

export async function stopNode(db: Database, nodeId: string): Promise<void> {
  await sql`update nodes set stopped_at = now() where id = ${nodeId}`.execute(db)
}

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
 * Holds whose node is gone: stopped, dead by its heartbeat, or never registered. A node that stopped
 * or died a while ago cannot resolve them any more.
 */
export async function listOrphanedHolds(db: Database, limit: number): Promise<OpenHold[]> {
  const { rows } = await sql<{
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
  }>`
    select h.* from holds h
    left join nodes n on n.id = h.node_id
    where n.id is null
      or n.stopped_at is not null
      or n.seen_at < now() - make_interval(secs => ${NODE_DEAD_AFTER_SECONDS})
    order by h.id
    limit ${limit}`.execute(db)
  return rows.map((row) => ({
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
  }))
}

/** Ids of this node's open holds that are older than `olderThanSeconds`. */
export async function listOwnHolds(
  db: Database,
  nodeId: string,
  olderThanSeconds: number,
): Promise<{ id: string; customerId: string }[]> {
  const { rows } = await sql<{ id: string; customer_id: string }>`
    select id, customer_id from holds
    where node_id = ${nodeId} and created_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(
    db,
  )
  return rows.map((row) => ({ id: row.id, customerId: row.customer_id }))
}
