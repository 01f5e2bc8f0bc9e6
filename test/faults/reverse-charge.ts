/**
 * Shows that the judge and the audit notice a lost charge: reverses the charge of a delivered answer, as a
 * fault of the spool or of a fence would, with every sum and roll-up consistent. The counts must disagree,
 * and the audit must report it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ClientCall } from './client-call.ts'
import { readLedgerCalls } from './read-ledger.ts'
import { HONEST_WITHIN_MS, runAudit } from './settle-world.ts'
import type { World } from './world.ts'

const LOOK_EVERY_MS = 10_000

/** How long the audit took to report it; undefined if it never did. */
export async function reverseCharge(
  world: World,
  calls: readonly ClientCall[],
): Promise<number | undefined> {
  const newest = calls
    .filter(({ ending }) => ending === 'whole')
    .toSorted((a, b) => b.endedAtMs - a.endedAtMs)[0]
  if (!newest) throw new Error('no answer was received whole')
  const ledger = await readLedgerCalls(world.db)
  const charged = ledger.find(
    ({ requestId, billedNanoBrl }) => requestId === newest.requestId && billedNanoBrl > 0n,
  )
  if (!charged) throw new Error('the answer is not charged')
  const startedAtMs = Date.now()
  await sql`
    select ledger_batch(null, array[${charged.customerId}::uuid], array[(${charged.holdId}::uuid, 'released',
      'fault_round', null, 'none', 0, 0, 0, 0, 0, 0, 0, 0, null, null, null, null, null, ${charged.customerId}::uuid,
      true)::ledger_resolution], null, '{}', '{}', null, false, false)`.execute(world.db)
  while (Date.now() - startedAtMs < HONEST_WITHIN_MS) {
    if (!(await runAudit(world)).isClean) return Date.now() - startedAtMs
    await sleep(LOOK_EVERY_MS)
  }
  return undefined
}
