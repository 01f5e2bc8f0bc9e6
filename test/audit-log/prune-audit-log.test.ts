import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { pruneAuditLog } from '../../src/platform/audit-log/prune-audit-log.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('acts of more than six years ago go, younger ones stay, and the log says that it was pruned', async () => {
  const { db } = database
  await sql`
    insert into audit_log (id, actor_kind, action, created_at)
    select gen_random_uuid(), 'system', 'old.act', now() - interval '6 years 1 day' - make_interval(secs => n)
    from generate_series(1, 5001) n
    union all select gen_random_uuid(), 'system', 'young.act', now() - interval '5 years 364 days'`.execute(
    db,
  )
  assert.equal(await pruneAuditLog(db), 5_001)
  const { rows } = await sql<{ action: string; rows: number | null; actor_kind: string }>`
    select action, actor_kind, (details->>'rows')::int4 as rows from audit_log order by action, rows desc`.execute(
    db,
  )
  assert.deepEqual(rows, [
    { action: 'audit_log.pruned', actor_kind: 'system', rows: 5_000 },
    { action: 'audit_log.pruned', actor_kind: 'system', rows: 1 },
    { action: 'young.act', actor_kind: 'system', rows: null },
  ])
  assert.equal(await pruneAuditLog(db), 0)
  const { rows: after } = await sql`select 1 from audit_log`.execute(db)
  assert.equal(after.length, 3, 'a run that deletes nothing records nothing')
})
