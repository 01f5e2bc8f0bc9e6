/** Waits until a world that is healed has come to rest, and compares all counts. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ClientCall } from './client-call.ts'
import { compareCounts, type Counts, type Difference, type Disturbance } from './compare-counts.ts'
import type { Purses } from './purses.ts'
import { readAccounts, readLedgerCalls } from './read-ledger.ts'
import type { World } from './world.ts'

export interface Settled {
  readonly counts: Counts
  readonly differences: readonly Difference[]
  readonly audit: { readonly isClean: boolean; readonly text: string }
  readonly settledAfterMs: number
}

/** The promise: everything is resolved within a minute. */
const SETTLED_WITHIN_MS = 60_000
export const HONEST_WITHIN_MS = 180_000
const root = join(import.meta.dirname, '../..')

export async function settleWorld(
  world: World,
  purses: Purses,
  seen: {
    calls: readonly ClientCall[]
    checkpoints: ReadonlyMap<string, number>
    disturbances: readonly Disturbance[]
  },
): Promise<Settled> {
  const healedAtMs = Date.now()
  const deadlineMs = healedAtMs + SETTLED_WITHIN_MS
  // What agrees early has settled early; what does not has its whole minute.
  for (; ; await sleep(1_000)) {
    const openHolds = await countHolds(world)
    const isLate = Date.now() >= deadlineMs
    const isUp = downtimesOf(world).every(({ toMs }) => toMs < Infinity)
    if (!isUp && !isLate) continue
    if (openHolds > 0 && !isLate) continue
    const { counts, differences } = compareCounts({
      ...seen,
      disturbances: [...seen.disturbances, ...downtimesOf(world)],
      revokedAtMs: purses.revokedAtMs,
      purses: purses.all,
      records: await world.upstream.readRecords(),
      ledger: await readLedgerCalls(world.db),
      accounts: await readAccounts(world.db),
    })
    for (const { how, isFailedStart } of world.nodes.flatMap((node) => node.ownExits))
      if (!isFailedStart)
        differences.push({ rule: 'a node ends only when it is ended', detail: how })
    if (openHolds > 0)
      differences.push({ rule: 'no hold is open after a minute', detail: `${openHolds} holds` })
    if (differences.length > 0 && !isLate) continue
    const settledAfterMs = Date.now() - healedAtMs
    const audit = await auditOf(world, differences.length > 0)
    return { counts, differences, audit, settledAfterMs }
  }
}

function downtimesOf({ nodes }: World): Disturbance[] {
  return nodes.flatMap(({ index, ownExits }) =>
    ownExits.map(({ fromMs, toMs }) => ({ node: index, fromMs, toMs })),
  )
}

async function countHolds({ db }: World): Promise<number> {
  const { rows } = await sql<{ holds: bigint }>`select count(*) as holds from holds`.execute(db)
  return Number(rows[0]?.holds)
}

/** Where counts differ the audit has its time to find out: nodes compare their notes of deliveries after 90 s. */
async function auditOf(world: World, shouldFail: boolean): Promise<Settled['audit']> {
  for (const deadline = Date.now() + HONEST_WITHIN_MS; ; await sleep(10_000)) {
    const audit = await runAudit(world)
    if (!shouldFail || !audit.isClean || Date.now() >= deadline) return audit
  }
}

/** `catraca audit`, as an operator runs it. */
export function runAudit({ databaseUrl, catalogFile }: World): Promise<Settled['audit']> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['src/cli/main.ts', 'audit'],
      {
        cwd: root,
        env: { ...process.env, DATABASE_URL: databaseUrl, CATRACA_CONFIG: catalogFile },
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => resolve({ isClean: error === null, text: stdout + stderr }),
    )
  })
}
