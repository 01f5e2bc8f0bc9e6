/**
 * The real ledger of one node, as schedules drive it: everything that is asked of it, and everything that can happen
 * to its process, its disk, its clock and its connections. Beside this file nothing of the model knows its interface.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openDatabase, type Database, type OpenDatabase } from '../../src/db/open.ts'
import { reconcile } from '../../src/gateway/reconcile.ts'
import { createRunningCalls, type RunningCall } from '../../src/gateway/running-calls.ts'
import type { Attempt, CountOnly, LedgerAway, Verdict } from '../../src/ledger/attempt.ts'
import { beat, registerNode } from '../../src/ledger/nodes.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { release, type Resolution } from '../../src/ledger/resolution.ts'
import { createId } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { openCuttableProxy, type CuttableProxy } from './cuttable-proxy.ts'
import { emptyDisk, fillDisk } from './faulty-disk.ts'

/** A node that was not seen for this long may be taken for dead. */
export const LEASE_SECONDS = 20

/** What became of a resolution, in the words of the reference ledger. */
export interface Resolved {
  /** `spooled`: it has not taken effect yet, and will. */
  readonly outcomes: readonly string[] | 'spooled'
  /** The client has the whole answer, or gets it now. */
  readonly isDelivered: boolean
}

export interface DrivenNode {
  readonly id: string
  readonly proxy: CuttableProxy
  readonly isCrashed: boolean
  hold(attempt: Attempt): Promise<Verdict | LedgerAway>
  count(count: CountOnly): Promise<Verdict | LedgerAway>
  mark(marks: readonly { id: string; outputTokensSeen: number }[]): Promise<boolean>
  /** The end of a call that was held, and whether its answer is delivered by what the ledger says. */
  settle(attempt: Attempt, resolution: Resolution): Promise<Resolved>
  /** What is asked within `ask` goes in one batch of each lane. */
  together(ask: () => void): void
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

export interface NodeOptions {
  readonly databaseUrl: string
  /** That is always well. */
  readonly db: Database
  readonly laneCount: number
}

const log = createLog('silent', () => {})

export async function startNode(options: NodeOptions): Promise<DrivenNode> {
  const machine = await mkdtemp(join(tmpdir(), 'catraca-model-'))
  return openNode(options, { machine, spoolDir: join(machine, 'spool-0'), starts: 0 })
}

interface Machine {
  readonly machine: string
  readonly spoolDir: string
  readonly starts: number
}

async function openNode(options: NodeOptions, machine: Machine): Promise<DrivenNode> {
  const { db } = options
  const { spoolDir } = machine
  const nodeId = createId()
  const proxy = await openCuttableProxy(options.databaseUrl)
  await registerNode(db, nodeId)
  const own: OpenDatabase = openDatabase(proxy.databaseUrl, { onError: () => {} })
  const calls = createRunningCalls()
  const running = new Map<string, RunningCall>()
  const ledger = await openLedger({
    databaseUrl: proxy.databaseUrl,
    nodeId,
    laneCount: options.laneCount,
    spoolDir,
    log,
    observer: { batch() {}, gone() {} },
  })
  // As `app.ts` does, before anything is estimated.
  await ledger.replaySpool()
  let isCrashed = false

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

  async function settle(attempt: Attempt, resolution: Resolution): Promise<Resolved> {
    const hold = running.get(attempt.id)
    const resolved = await ledger.resolve(resolution, hold)
    hold?.end()
    running.delete(attempt.id)
    const isCharged = resolution.outcome === 'charged'
    if (resolved === 'spooled') return { outcomes: 'spooled', isDelivered: isCharged }
    // As `serve-call.ts` has it: only `missing` keeps a plain answer from its client.
    if (resolved === 'missing') return { outcomes: ['missing'], isDelivered: attempt.isStream }
    const outcomes = isCharged ? ['done', 'repeated'] : ['done', 'repeated', 'superseded', 'missing']
    return { outcomes, isDelivered: isCharged }
  }

  return {
    id: nodeId,
    proxy,
    get isCrashed() {
      return isCrashed
    },
    async hold(attempt) {
      const verdict = await ledger.hold(attempt)
      if (verdict.kind === 'held' && !isCrashed)
        running.set(attempt.id, calls.begin(attempt.id, !attempt.mayLag))
      return verdict
    },
    count: (count) => ledger.count(count),
    async mark(marks) {
      const isKept = await ledger.mark(marks)
      if (isKept) calls.noteKept(marks)
      return isKept
    },
    settle,
    together(ask) {
      // The lanes are busy with these while the others come in.
      for (let lane = 0; lane < options.laneCount; lane++) void ledger.resolve(noResolution(lane))
      ask()
    },
    beat: () => beat(own.db, nodeId),
    async reconcile() {
      await reconcile({ db: own.db, ledger, calls, nodeId, log })
    },
    replay: () => ledger.replaySpool(),
    get spoolLength() {
      return ledger.spoolLength
    },
    fillDisk: (bytes) => fillDisk(spoolDir, bytes),
    emptyDisk: () => emptyDisk(spoolDir),
    async crash() {
      kill()
      // What is left of it in this process finds no database, and a disk that nobody reads.
      const starts = machine.starts + 1
      const next = join(machine.machine, `spool-${starts}`)
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
      await ledger.close()
      await own.close()
      await proxy.close()
      await rm(machine.machine, { recursive: true, force: true })
    },
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
  await sql`with aged as (update nodes set seen_at = seen_at - ${ago} where id <> all(${except}::uuid[]))
    update holds set created_at = created_at - ${ago}`.execute(db)
}
