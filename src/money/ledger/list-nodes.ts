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

export interface HoldsState {
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
