/** Accounts whose calls are interrupted, and the state that must hold once their holds are resolved. */
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { compareThreeCounts } from '../harness/compare-three-counts.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** The promise: every hold is resolved within a minute. */
export const RESOLVED_WITHIN_MS = 60_000

/** An account with ample money that stores its responses. */
export async function openStoringAccount(
  db: Database,
): Promise<{ secret: string; customerId: string }> {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '10000' })
  await sql`update customers set stored_responses_days = 1 where id = ${customerId}`.execute(db)
  return { secret, customerId }
}

/** The audit finds nothing, the three counts agree, and a response is stored after its charge alone. */
export async function assertCallsAgree(
  db: Database,
  calls: Parameters<typeof compareThreeCounts>[1],
): ReturnType<typeof compareThreeCounts> {
  await assertAudit({ db })
  const counts = await compareThreeCounts(db, calls)
  const { rows } = await sql<{ stored: bigint; uncharged: bigint }>`
    select count(*) as stored, count(*) filter (where not exists (
      select from usage_events e where e.id = r.id and e.outcome = 'charged')) as uncharged
    from stored_responses r where r.customer_id = ${calls.customerId}`.execute(db)
  assert.equal(rows[0]?.uncharged, 0n)
  assert.notEqual(rows[0]?.stored, 0n)
  return counts
}
