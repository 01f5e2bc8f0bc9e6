/** Waits until a healed world has settled, and compares all counts. */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { BUNDLE_IMPORTS } from '../harness/bundle-imports.ts'
import type { ClientCall } from './client-call.ts'
import {
  compareCounts,
  isOfService,
  PAYMENTS_RULE,
  type Counts,
  type Discrepancy,
  type Disturbance,
} from './compare-counts.ts'
import type { Purses } from './purses.ts'
import { readAccounts, readLedgerCalls } from './read-ledger.ts'
import type { World } from './world.ts'

export interface Settled {
  readonly counts: Counts
  readonly discrepancies: readonly Discrepancy[]
  readonly audit: { readonly isClean: boolean; readonly text: string }
  readonly settledAfterMs: number
  /** The rules that did not hold at the try before the last one, or what had not ended then. */
  readonly waitedFor: string
}

/** The promise: every hold is resolved within a minute. */
const SETTLED_WITHIN_MS = 60_000
/** A payment whose node died with it is taken up by another one when its lease has ended. */
const PAID_WITHIN_MS = 300_000
export const HONEST_WITHIN_MS = 180_000
const NANO_PER_CENT = 10_000_000n
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
  let waitedFor = ''
  // Counts that agree early need no further wait; others get the whole minute.
  for (; ; await sleep(1_000)) {
    const openHolds = await countHolds(world)
    const isLate = Date.now() >= deadlineMs
    const isUp = downtimesOf(world).every(({ toMs }) => toMs < Infinity)
    if ((!isUp || openHolds > 0) && !isLate) {
      waitedFor = isUp ? `${openHolds} holds` : 'a node'
      continue
    }
    await readPayments(world, purses)
    const { counts, discrepancies } = compareCounts({
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
        discrepancies.push({ rule: 'a node exits only when it is killed', detail: how })
    if (openHolds > 0)
      discrepancies.push({ rule: 'no hold is open after a minute', detail: `${openHolds} holds` })
    const ofMoney = discrepancies.filter((each) => !isOfService(each))
    // Also beside another discrepancy: a payment that is only late is none.
    const hasUnpaid = ofMoney.some(({ rule }) => rule === PAYMENTS_RULE)
    const isEnd = hasUnpaid ? Date.now() >= healedAtMs + PAID_WITHIN_MS : isLate
    if (ofMoney.length > 0 && !isEnd) {
      waitedFor = [...new Set(ofMoney.map(({ rule }) => rule))].join(', ')
      continue
    }
    const settledAfterMs = Date.now() - healedAtMs
    const audit = await auditOf(world, ofMoney.length > 0)
    return { counts, discrepancies, audit, settledAfterMs, waitedFor }
  }
}

/** The processor's books are the truth about what a customer paid and got back. */
async function readPayments({ processor }: World, { all }: Purses): Promise<void> {
  for (const purse of all) {
    if (!processor || !purse.payments) continue
    const { paidCents, refundedCents } = await processor.readPaid(purse.payments.topUpIds)
    purse.creditedNanoBrl = paidCents * NANO_PER_CENT
    purse.debitedNanoBrl = refundedCents * NANO_PER_CENT
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

/** When counts disagree, the audit gets time to notice: nodes compare their delivery notes after 90 s. */
async function auditOf(world: World, shouldFail: boolean): Promise<Settled['audit']> {
  for (const deadline = Date.now() + HONEST_WITHIN_MS; ; await sleep(10_000)) {
    const audit = await runAudit(world)
    if (!shouldFail || !audit.isClean || Date.now() >= deadline) return audit
  }
}

/** `catraca audit`, as an operator runs it. */
export function runAudit({ databaseUrl, env }: World): Promise<Settled['audit']> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...BUNDLE_IMPORTS, join(root, 'src/app/cli/main.ts'), 'audit'],
      {
        cwd: tmpdir(),
        env: { ...process.env, ...env, DATABASE_URL: databaseUrl },
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => resolve({ isClean: error === null, text: stdout + stderr }),
    )
  })
}
