/**
 * The real ledger of one node, as schedules drive it: every request to it, and every fault of its process, its
 * disk, its clocks and its connections. It decides on delivery as `serve-call.ts` and `relay-stream.ts` do. No
 * other file of the model knows the interface of the ledger.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { inTransaction, openDatabase, type Database } from '../../src/platform/db/open.ts'
import { reconcile } from '../../src/gateway/calls/reconcile.ts'
import { createRunningCalls, type RunningCall } from '../../src/gateway/calls/running-calls.ts'
import type {
  Attempt,
  CountOnly,
  LedgerUnavailable,
  Verdict,
} from '../../src/money/ledger/attempt.ts'
import { openLease } from '../../src/money/ledger/lease.ts'
import { openLedger } from '../../src/money/ledger/open-ledger.ts'
import { release, type Resolution } from '../../src/money/ledger/resolution.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { openCuttableProxy, type CuttableProxy } from './cuttable-proxy.ts'
import { createDrivenClock, type DrivenClock } from './driven-clock.ts'
import { emptyDisk, fillDisk } from './faulty-disk.ts'
import type { Prepared } from './prepared.ts'
import type { ServerSessions } from './server-sessions.ts'

export { LEASE_SECONDS } from '../../src/money/ledger/lease.ts'

/** How a held call ended. */
export interface Ended {
  /** The tokens of the resolution; null for a release. */
  readonly tokens: number | null
  readonly isFinal: boolean
  /** The ledger's answer, in the terms of the reference ledger; undefined if the resolution was not stored. */
  readonly outcomes: readonly string[] | undefined
  /** It has no effect yet, and will have one. */
  readonly isSpooled: boolean
  /** The client got an error instead of the answer. */
  readonly isRefused: boolean
  /** The tokens that the client has; undefined: none of the answer. */
  readonly delivered: number | undefined
}

export interface DrivenNode {
  readonly proxy: CuttableProxy
  readonly clock: DrivenClock
  readonly isCrashed: boolean
  /** Its current id. */
  id(): string
  /** Other nodes may resolve the hold: this node was fenced since it took it. */
  isOver(attempt: Attempt): boolean
  hold(attempt: Attempt): Promise<Verdict | LedgerUnavailable>
  count(count: CountOnly): Promise<Verdict | LedgerUnavailable>
  /**
   * Running calls that have generated so much output; a stream delivers it, if the lease permits. Returns the ids
   * of stored checkpoints.
   */
  checkpoint(checkpoints: readonly { attempt: Attempt; seen: number }[]): Promise<readonly string[]>
  /** The whole answer has arrived; null: none came. `said` is called before the ledger. */
  end(attempt: Attempt, tokens: number | null, charge: Charge, said: Said): Promise<Ended>
  /** Calls that are issued at once share one batch of each lane. */
  occupyLanes(): void
  /** Sends a heartbeat and waits for its end. */
  beat(): Promise<void>
  reconcile(): Promise<void>
  replay(): Promise<void>
  readonly spoolLength: number
  fillDisk(bytes: number): void
  emptyDisk(): void
  /** The process dies; the node that replaces it has its disk. */
  crash(): Promise<DrivenNode>
  /** The process and its disk are lost. */
  abandon(): Promise<void>
  close(): Promise<void>
}

export type Charge = (attempt: Attempt, tokens: number) => Resolution
export type Said = (answer: { readonly tokens: number | null; readonly isFinal: boolean }) => void

export interface NodeOptions {
  readonly databaseUrl: string
  readonly sessions: ServerSessions
  readonly laneCount: number
}

interface Machine {
  readonly folder: string
  readonly spoolDir: string
  readonly starts: number
}

interface Running {
  readonly call: RunningCall
  /** The tokens that a stream delivered before its end. */
  delivered: number | undefined
  isEnding: boolean
}

const log = createLog('silent', () => {})
/** Short, so that calls are given up within a schedule. */
const DOUBT_MS_MAX = 300

export async function startNode(options: NodeOptions): Promise<DrivenNode> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-model-'))
  return openNode(options, { folder, spoolDir: join(folder, 'spool-0'), starts: 0 })
}

async function openNode(options: NodeOptions, machine: Machine): Promise<DrivenNode> {
  const { spoolDir } = machine
  const proxy = await openCuttableProxy(options.databaseUrl, options.sessions)
  const { databaseUrl } = proxy
  const own = openDatabase(databaseUrl, { onError: () => {} })
  const clock = createDrivenClock()
  const lease = await openLease({
    databaseUrl,
    log,
    clock,
    wait: (signal) => clock.waitForBeat(signal),
  })
  const { laneCount } = options
  const observer = { batch() {}, gone() {} }
  const ledger = await openLedger({
    databaseUrl,
    lease,
    laneCount,
    spoolDir,
    log,
    observer,
    doubtMsMax: DOUBT_MS_MAX,
  })
  // As in `composition`, before any balance is estimated.
  await ledger.replaySpool()
  const calls = createRunningCalls()
  const running = new Map<string, Running>()
  const epochs = new Map<string, number>()
  let isCrashed = false

  async function end(
    attempt: Attempt,
    tokens: number | null,
    charge: Charge,
    said: Said,
  ): Promise<Ended> {
    const own = running.get(attempt.id)
    if (!own) throw new Error('a call that does not run cannot end')
    own.isEnding = true
    // A stream goes on while the lease is held; one that breaks off is charged for the delivered part.
    const mayShow = lease.isHeld(own.call.epoch) && own.call.isHoldDurable
    if (attempt.isStream && tokens !== null && mayShow) own.delivered = tokens
    const tokensToCharge = attempt.isStream ? (own.delivered ?? null) : tokens
    own.call.isDelivered = own.delivered !== undefined
    const isFinal = own.call.isDelivered
    said({ tokens: tokensToCharge, isFinal })
    const resolution =
      tokensToCharge === null ? release(attempt, 'model') : charge(attempt, tokensToCharge)
    const resolved = await ledger.resolve(
      isFinal ? { ...resolution, isFinal } : resolution,
      own.call,
    )
    own.call.end()
    running.delete(attempt.id)
    const isDurable = DURABLE.has(resolved.kind)
    const delivered =
      own.delivered ?? (isDurable && tokensToCharge !== null ? tokensToCharge : undefined)
    return {
      tokens: tokensToCharge,
      isFinal: isFinal || (resolved.kind === 'spooled' && tokensToCharge !== null),
      outcomes: outcomesOf(resolved, tokensToCharge === null),
      isSpooled: resolved.kind === 'spooled',
      isRefused:
        resolved.kind === 'unavailable' && tokensToCharge !== null && delivered === undefined,
      delivered,
    }
  }

  function kill(): void {
    isCrashed = true
    emptyDisk(spoolDir)
    proxy.cut({ arrives: true })
  }

  /** Its promises may still wait for a database that it can no longer reach. */
  async function bury(): Promise<void> {
    await proxy.close()
    void own.close().catch(() => {})
    void ledger.close().catch(() => {})
  }

  return {
    proxy,
    clock,
    get isCrashed() {
      return isCrashed
    },
    id: () => lease.nodeId(),
    isOver: ({ id }) => epochs.get(id) !== lease.epoch(),
    async hold(attempt) {
      const epoch = lease.epoch()
      epochs.set(attempt.id, epoch)
      const verdict = await ledger.hold(attempt)
      if (verdict.kind === 'held' && !isCrashed) {
        const call = calls.begin(
          { id: attempt.id, customerId: attempt.customerId, epoch },
          verdict.isDurable,
        )
        running.set(attempt.id, { call, delivered: undefined, isEnding: false })
        const { id, customerId, isStream } = attempt
        if (isStream && !verdict.isDurable)
          calls.recordDurable(await ledger.checkpoint([{ id, customerId, outputTokensSeen: 0 }]))
      }
      return verdict
    },
    count: (count) => ledger.count(count),
    async checkpoint(checkpoints) {
      for (const { attempt, seen } of checkpoints) {
        const own = running.get(attempt.id)
        if (!own || own.isEnding || !attempt.isStream || seen === 0) continue
        if (!lease.isHeld(own.call.epoch) || !own.call.isHoldDurable) continue
        own.call.isDelivered = true
        own.delivered = Math.max(own.delivered ?? 0, seen)
      }
      const kept = await ledger.checkpoint(
        checkpoints.map(({ attempt: { id, customerId }, seen }) => ({
          id,
          customerId,
          outputTokensSeen: seen,
        })),
      )
      calls.recordDurable(kept)
      return kept.map(({ id }) => id)
    },
    end,
    occupyLanes() {
      for (let lane = 0; lane < laneCount; lane++) void ledger.resolve(noResolution(lane))
    },
    beat: () => clock.beat(),
    async reconcile() {
      await reconcile({ db: own.db, ledger, lease, calls, log })
    },
    replay: () => ledger.replaySpool(),
    get spoolLength() {
      return ledger.spoolLength
    },
    fillDisk: (bytes) => fillDisk(spoolDir, bytes),
    emptyDisk: () => emptyDisk(spoolDir),
    async crash() {
      kill()
      // The rest of it in this process finds no database, and a disk that no node reads.
      const starts = machine.starts + 1
      const next = join(machine.folder, `spool-${starts}`)
      await rename(spoolDir, next)
      await mkdir(spoolDir)
      await bury()
      return openNode(options, { ...machine, spoolDir: next, starts })
    },
    async abandon() {
      kill()
      await bury()
    },
    async close() {
      emptyDisk(spoolDir)
      proxy.heal()
      await lease.stop().catch(() => {})
      await ledger.close()
      await own.close()
      await proxy.close()
      await rm(machine.folder, { recursive: true, force: true })
    },
  }
}

/** The outcomes after which `serve-call.ts` sends the end of an answer. */
const DURABLE: ReadonlySet<string> = new Set(['committed', 'corrected', 'spooled'])

function outcomesOf(
  resolved: { readonly kind: string; readonly isRepeated?: boolean },
  isRelease: boolean,
): readonly string[] | undefined {
  switch (resolved.kind) {
    case 'committed': {
      // An earlier attempt of this node whose answer was lost gives the same answer as another node's.
      const outcomes = resolved.isRepeated ? ['repeated', 'done'] : ['done']
      // A release does not report that there was nothing to release.
      return isRelease ? [...outcomes, 'missing'] : outcomes
    }
    case 'spooled':
    case 'unavailable':
      return undefined
    default:
      return [resolved.kind]
  }
}

/** A hold that never existed, whose customer belongs to this lane. */
function noResolution(lane: number): Resolution {
  const customerId = `00000000-0000-7000-8000-00000000000${lane}`
  return release({ id: createId(), customerId }, 'model')
}

/** For `passTime`: statements of one transaction, each with a snapshot of its own. */
export const MAKE_TIME_PASS = `
  create function model_pass_time(p_seconds float8, p_except uuid[]) returns void language plpgsql as $$ begin
    -- The lock order of every transaction that changes rows of a customer.
    perform 1 from accounts where customer_id in (select customer_id from holds)
      order by customer_id for no key update;
    update holds set created_at = created_at - make_interval(secs => p_seconds);
    -- A world uses up thousands of nodes, and the last heartbeat of a fenced one no longer matters.
    update nodes set seen_at = seen_at - make_interval(secs => p_seconds)
      where fenced_at is null and id <> all (p_except);
  end $$`

/** Moves the clock of all rows forward; the excepted nodes keep sending heartbeats. */
export async function passTime(
  db: Database,
  { seconds, except }: { readonly seconds: number; readonly except: readonly string[] },
): Promise<void> {
  await inTransaction(db, (trx) =>
    sql`select public.model_pass_time(${seconds}, ${except})`.execute(trx),
  )
}

export interface FirstEvent {
  readonly id: string
  readonly billedNanoBrl: bigint
}

/** Those of these holds that another node than the caller's resolved. */
export async function listReconciled(
  prepared: Prepared,
  ids: readonly string[],
): Promise<FirstEvent[]> {
  const statement = sql<FirstEvent>`
    select id, cost_billed_nano_brl as "billedNanoBrl" from usage_events
    where id = any(${ids}::uuid[]) and (reason like 'node_lost%' or reason like 'hold_forgotten%')`
  return prepared.run('list_reconciled', statement)
}
