/**
 * The lease of this node: the time in which no other node may resolve its holds. The heartbeat renews it over a
 * separate connection, so that exports or a slow pool cannot let it lapse.
 *
 * Invariant: a node that could not renew its lease stops delivering (`isHeld` turns false) before the others may
 * fence it. The margin between the two covers what a process does between the check and the write; a process that is
 * stopped in that very moment may still deliver, and its charge is then a correction (`Resolution.isFinal`).
 *
 * The next heartbeat renews a lapsed lease, unless another node has fenced this one. A fenced node registers under a
 * new id: calls that began under the old id belong to an epoch that is over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { FUNCTIONS_SCHEMA } from '../../platform/db/functions.ts'
import { DatabaseClient } from '../../platform/db/database-client.ts'
import { destroyClient } from '../../platform/db/destroy-client.ts'
import { connectionConfig } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'

/** How long a heartbeat keeps the lease, by the database's clock: a node whose last one is older may be fenced. */
export const LEASE_SECONDS = 20
/** A node stops delivering this much before the lease ends, by its own clock. */
const MARGIN_MS = 4_000
export const HEARTBEAT_MS = 3_000
/** A heartbeat that is not answered by then is retried over a new connection. */
const HEARTBEAT_TIMEOUT_MS = 2_500
/** A longer gap between two heartbeats counts as lost contact with the database. */
const GAP_MS_MAX = 2 * HEARTBEAT_MS + HEARTBEAT_TIMEOUT_MS

/** The lease as the gateway and the ledger see it. */
export interface LeaseView {
  /** The node id under which holds are taken now. */
  nodeId(): string
  /** Incremented each time the node is fenced. */
  epoch(): number
  /** True while no other node may resolve the holds of this epoch. */
  isHeld(epoch: number): boolean
  /** Waits until the lease of this epoch is held. False if the epoch is over, or after `timeoutMs`. */
  whenHeld(epoch: number, timeoutMs: number): Promise<boolean>
}

/** A process of a server. The parent chooses the ids, which are new for each process. */
export interface NodeProcess {
  readonly serverId: string
  readonly processId: string
  /** 0 is the parent. */
  readonly worker: number
}

/** The release that a node runs, for the operator. */
export interface Release {
  readonly version: string
  /** The commit, or the build of an image. Undefined: nobody said it. */
  readonly build: string | undefined
}

export interface Lease extends LeaseView {
  /**
   * The duration of unbroken contact with the database, in milliseconds. The node may fence others only after a whole
   * lease of contact: before that, their silence may be the database's.
   */
  contactMs(): number
  /** Since the last heartbeat that the database took, in milliseconds. */
  sinceContactMs(): number
  /** Ends the heartbeat and records that the node stopped, so that its last holds need not wait for the lease. */
  stop(): Promise<void>
}

/** A clock that only goes forward, and one that also counts the time of a suspended machine, in milliseconds. */
export interface LeaseClock {
  monotonicMs(): number
  wallMs(): number
}

const SYSTEM_CLOCK: LeaseClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
}
const POLL_MS = 100

export async function openLease(options: {
  databaseUrl: string
  log: Log
  /** Undefined where one process is the whole server. */
  process?: NodeProcess | undefined
  release?: Release
  clock?: LeaseClock
  heartbeatMs?: number
  /** Between two heartbeats. */
  wait?: (signal: AbortSignal) => Promise<void>
}): Promise<Lease> {
  const { log, process, release, clock = SYSTEM_CLOCK, heartbeatMs = HEARTBEAT_MS } = options
  const { wait = (signal) => sleep(heartbeatMs, undefined, { signal, ref: false }) } = options
  const validMs = LEASE_SECONDS * 1_000 - MARGIN_MS
  let nodeId = createId()
  let epoch = 0
  let heldUntilMs = 0
  let heldUntilWallMs = 0
  let contactSinceMs: number | undefined
  let lastContactMs = 0
  let client: pg.Client | undefined
  const stopping = new AbortController()

  async function connect(): Promise<pg.Client> {
    const fresh = new DatabaseClient({
      ...connectionConfig(options.databaseUrl, {
        statement_timeout: String(HEARTBEAT_TIMEOUT_MS),
        lock_timeout: '1000',
      }),
      connectionTimeoutMillis: HEARTBEAT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_TIMEOUT_MS,
    })
    const drop = (): void => {
      if (client === fresh) client = undefined
    }
    fresh.on('error', drop)
    fresh.on('end', drop)
    await fresh.connect()
    return fresh
  }

  /** The lease runs from the moment before the heartbeat was sent: the database cannot have recorded it earlier. */
  function renewed(sentAtMs: number, sentAtWallMs: number): void {
    heldUntilMs = sentAtMs + validMs
    heldUntilWallMs = sentAtWallMs + validMs
    const nowMs = clock.monotonicMs()
    if (contactSinceMs === undefined || nowMs - lastContactMs > GAP_MS_MAX) contactSinceMs = nowMs
    lastContactMs = nowMs
  }

  async function beat(): Promise<void> {
    client ??= await connect()
    const sentAtMs = clock.monotonicMs()
    const sentAtWallMs = clock.wallMs()
    const { rowCount } = await client.query(
      `update nodes set seen_at = clock_timestamp() where id = $1 and fenced_at is null and stopped_at is null`,
      [nodeId],
    )
    if (rowCount === 1) return renewed(sentAtMs, sentAtWallMs)
    const fenced = nodeId
    // From here on no call of the old epoch is delivered, even if the registration fails.
    epoch += 1
    heldUntilMs = 0
    nodeId = createId()
    log.error('node_fenced', { nodeId: fenced, newNodeId: nodeId })
    await register()
  }

  async function register(): Promise<void> {
    client ??= await connect()
    const sentAtMs = clock.monotonicMs()
    const sentAtWallMs = clock.wallMs()
    await client.query(
      `insert into nodes (id, functions_schema, server_id, process_id, worker, version, build)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`,
      [
        nodeId,
        FUNCTIONS_SCHEMA,
        process?.serverId,
        process?.processId,
        process?.worker,
        release?.version,
        release?.build,
      ],
    )
    renewed(sentAtMs, sentAtWallMs)
  }

  async function keepBeating(): Promise<void> {
    for (;;) {
      await wait(stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return
      await beat().catch((error: unknown) => {
        log.warn('heartbeat_failed', { error })
        if (client) destroyClient(client)
        client = undefined
      })
    }
  }

  function isHeld(of: number): boolean {
    return of === epoch && clock.monotonicMs() < heldUntilMs && clock.wallMs() < heldUntilWallMs
  }

  await register()
  const beating = keepBeating()
  return {
    nodeId: () => nodeId,
    epoch: () => epoch,
    isHeld,
    async whenHeld(of, timeoutMs) {
      const deadlineMs = performance.now() + timeoutMs
      while (!isHeld(of)) {
        if (of !== epoch || stopping.signal.aborted || performance.now() >= deadlineMs) return false
        await sleep(POLL_MS)
      }
      return true
    },
    contactMs() {
      const nowMs = clock.monotonicMs()
      if (contactSinceMs === undefined || nowMs - lastContactMs > GAP_MS_MAX) return 0
      return nowMs - contactSinceMs
    },
    sinceContactMs: () => clock.monotonicMs() - lastContactMs,
    async stop() {
      stopping.abort()
      await beating
      heldUntilMs = 0
      try {
        client ??= await connect()
        await client.query('update nodes set stopped_at = now() where id = $1', [nodeId])
      } finally {
        if (client) destroyClient(client)
      }
    },
  }
}
