/** The database after the calls: no hold is open, and every amount adds up. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import type { Database } from '../../src/platform/db/open.ts'

interface Opened {
  readonly db: Database
}

export async function untilNoHoldIsOpen(database: Opened, withinMs = 60_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; ; await sleep(50)) {
    const open = await database.db.selectFrom('holds').select(['id', 'model_id']).execute()
    if (open.length === 0) return
    assert.ok(Date.now() < deadline, `open holds: ${JSON.stringify(open.slice(0, 5))}`)
  }
}

export async function assertAudit(database: Opened): Promise<void> {
  const report = await auditMoney(database.db)
  assert.deepEqual(
    report.checks.filter((check) => !check.ok),
    [],
  )
}
