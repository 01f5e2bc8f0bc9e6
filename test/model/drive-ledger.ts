/**
 * The real ledger of one node, as schedules drive it: everything that is asked of it, and everything that can happen
 * to its process, its disk, its clocks and its connections. It decides on delivery as `serve-call.ts` and
 * `relay-stream.ts` do. Beside this file nothing of the model knows the interface of the ledger.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { inTransaction, openDatabase, type Database } from '../../src/db/open.ts'
import { reconcile } from '../../src/gateway/reconcile.ts'
import { createRunningCalls, type RunningCall } from '../../src/gateway/running-calls.ts'
import type { Attempt, CountOnly, LedgerUnavailable, Verdict } from '../../src/ledger/attempt.ts'
import { openLease } from '../../src/ledger/lease.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { release, type Resolution } from '../../src/ledger/resolution.ts'
import { createId } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { openCuttableProxy, type CuttableProxy } from './cuttable-proxy.ts'
import { createDrivenClock, type DrivenClock } from './driven-clock.ts'
import { emptyDisk, fillDisk } from './faulty-disk.ts'

export { LEASE_SECONDS } from '../../src/ledger/lease.ts'

/** How a call that was held came to its end. */
export interface Ended {
  /** The tokens of the resolution; null for a release. */
  readonly tokens: number | null
  readonly isFinal: boolean
  /** The ledger's answer, in the words of the reference ledger; undefined if it took nothing. */
  readonly outcomes: readonly string[] | undefined
  /** It has not taken effect yet, and will. */
  readonly isSpooled: boolean
  /** The client got an error in place of the answer. */
  readonly isRefused: boolean
  /** Tokens that the client has; undefined: nothing of the answer. */
  readonly delivered: number | undefined
}

export interface DrivenNode {
  readonly proxy: CuttableProxy
  readonly clock: DrivenClock
  readonly isCrashed: boolean
  /** As which it is known now. */
  id(): string
  /** Others may resolve the hold: the node was fenced since it was taken. */
  isOver(attempt: Attempt): boolean
  hold(attempt: Attempt): Promise<Verdict | LedgerUnavailable>
  count(count: CountOnly): Promise<Verdict | LedgerUnavailable>
  /** Running calls that saw so much output; a stream has delivered it, if it may. Returns the ids of those kept. */
  checkpoint(checkpoints: readonly { attempt: Attempt; seen: number }[]): Promise<readonly string[]>
  /** The whole answer has arrived; null: none came. `said` is called before the ledger is. */
  end(attempt: Attempt, tokens: number | null, charge: Charge, said: Said): Promise<Ended>
  /** The works that follow at once share one batch of each lane. */
  occupyLanes(): void
  /** A heartbeat, to its end. */
  beat(): Promise<void>
  reconcile(): Promise<void>
  replay(): Promise<void>
  readonly spoolLength: number
  fillDisk(bytes: number): void
  emptyDisk(): void
  /** Its process is gone; the node that takes its place has its disk. */
  crash(): Promise<DrivenNode>
  /** Its process and its disk are gone. */
  abandon(): Promise<void>
  close(): Promise<void>
}

export type Charge = (attempt: Attempt, tokens: number) => Resolution
export type Said = (answer: { readonly tokens: number | null; readonly isFinal: boolean }) => void

export interface NodeOptions {
  readonly databaseUrl: string
  readonly laneCount: number
}

interface Machine {
  readonly folder: string
  readonly spoolDir: string
  readonly starts: number
}

interface Running {
  readonly call: RunningCall
  /** By a stream, before its end. */
  delivered: number | undefined
  isEnding: boolean
}

const log = createLog('silent', () => {})
/** So that calls are given up within a schedule. */
const DOUBT_MS_MAX = 300

export async function startNode(options: NodeOptions): Promise<DrivenNode> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-model-'))
  return openNode(options, { folder, spoolDir: join(folder, 'spool-0'), starts: 0 })
}

async function openNode(options: NodeOptions, machine: Machine): Promise<DrivenNode> {
  const { spoolDir } = machine
  const proxy = await openCuttableProxy(options.databaseUrl)
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
  // As `composition` does, before anything is estimated.
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
    if (attempt.isStream && tokens !== null && lease.isHeld(own.call.epoch)) own.delivered = tokens
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

  /** Its promises may still wait for a database that it does not find any more. */
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
          !attempt.commitsAsynchronously,
        )
        running.set(attempt.id, { call, delivered: undefined, isEnding: false })
      }
      return verdict
    },
    count: (count) => ledger.count(count),
    async checkpoint(checkpoints) {
      for (const { attempt, seen } of checkpoints) {
        const own = running.get(attempt.id)
        if (!own || own.isEnding || !attempt.isStream || seen === 0) continue
        if (!lease.isHeld(own.call.epoch)) continue
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
      // Its remains in this process find no database, and a disk that no node reads.
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

/** As `serve-call.ts` has it: after these the end of an answer may leave. */
const DURABLE: ReadonlySet<string> = new Set(['committed', 'corrected', 'spooled'])

function outcomesOf(
  resolved: { readonly kind: string; readonly isRepeated?: boolean },
  isRelease: boolean,
): readonly string[] | undefined {
  switch (resolved.kind) {
    case 'committed': {
      // An own earlier try whose answer was lost gives the same answer as another node's.
      const outcomes = resolved.isRepeated ? ['repeated', 'done'] : ['done']
      // Of a release it is not said that there was nothing to release.
      return isRelease ? [...outcomes, 'missing'] : outcomes
    }
    case 'spooled':
    case 'unavailable':
      return undefined
    default:
      return [resolved.kind]
  }
}

/** Of a hold that never was, whose customer is of this lane. */
function noResolution(lane: number): Resolution {
  const customerId = `00000000-0000-7000-8000-00000000000${lane}`
  return release({ id: createId(), customerId }, 'model')
}

/** Everybody's time goes on, as rows tell it; these nodes send heartbeats all the while. */
export async function passTime(
  db: Database,
  { seconds, except }: { readonly seconds: number; readonly except: readonly string[] },
): Promise<void> {
  const ago = sql`make_interval(secs => ${seconds})`
  await inTransaction(db, async (trx) => {
    // As all do that touch rows of a customer.
    await sql`select 1 from accounts where customer_id in (select customer_id from holds)
      order by customer_id for no key update`.execute(trx)
    await sql`update holds set created_at = created_at - ${ago}`.execute(trx)
    // A world uses up thousands of nodes, and the last heartbeat of a fenced one no longer matters.
    await sql`update nodes set seen_at = seen_at - ${ago}
      where fenced_at is null and id <> all(${except}::uuid[])`.execute(trx)
  })
}

export interface FirstEvent {
  readonly id: string
  readonly billedNanoBrl: bigint
}

/** The ones of these holds that a node resolved which did not run the call. */
export async function listReconciled(db: Database, ids: readonly string[]): Promise<FirstEvent[]> {
  const { rows } = await sql<FirstEvent>`
    select id, cost_billed_nano_brl as "billedNanoBrl" from usage_events
    where id = any(${ids}::uuid[]) and (reason like 'node_lost%' or reason like 'hold_forgotten%')`.execute(
    db,
  )
  return rows
}
