// deep: every act and its row
/** An act and its row of the audit log are one transaction: neither exists without the other. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { revokeKey } from '../../src/customers/key-acts.ts'
import { registerCustomer } from '../../src/customers/register-customer.ts'
import { updateIncident } from '../../src/platform/health/incidents.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedPerson } from '../harness/seed-person.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { customerActs } from './customer-acts.ts'
import { moneyActs } from './money-acts.ts'
import { operatorActs } from './operator-acts.ts'
import { signInActs } from './sign-in-acts.ts'
import { teamActs } from './team-acts.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())
await sql`
  create function refuse_at_commit() returns trigger language plpgsql as $$
  begin raise exception 'refused at commit'; end $$`.execute(db)

const person = await seedPerson(db)
const acts = [
  ...(await operatorActs(db)),
  ...(await moneyActs(db, person)),
  ...(await customerActs(db, person)),
  ...(await teamActs(db)),
  ...(await signInActs(db, person)),
]

async function readRows(table: string): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select t::text as row from ${sql.table(table)} t order by 1`.execute(db)
  return rows.map(({ row }) => row)
}

async function readTraces(table: string): Promise<string[][]> {
  const traces: string[][] = []
  for (const each of [table, 'audit_log', 'events', 'mails']) traces.push(await readRows(each))
  return traces
}

for (const { action, table, run } of acts) {
  test(`${action} in ${table}: without its audit row the act does not happen`, async () => {
    const before = await readTraces(table)
    await sql`alter table audit_log add constraint closed check (action <> ${sql.lit(action)}) not valid`.execute(
      db,
    )
    try {
      await assert.rejects(run, /closed/)
    } finally {
      await sql`alter table audit_log drop constraint closed`.execute(db)
    }
    assert.deepEqual(await readTraces(table), before)
  })

  test(`${action} in ${table}: an act that fails leaves no audit row`, async () => {
    const before = await readTraces(table)
    await sql`
      create constraint trigger refuse after insert or update or delete on ${sql.table(table)}
      deferrable initially deferred for each row execute function refuse_at_commit()`.execute(db)
    try {
      await assert.rejects(run, /refused at commit/)
    } finally {
      await sql`drop trigger refuse on ${sql.table(table)}`.execute(db)
    }
    assert.deepEqual(await readTraces(table), before)
  })
}

test('an act that changes nothing leaves no audit row', async () => {
  const before = await readRows('audit_log')
  const id = createId()
  assert.equal(await updateIncident(db, OPERATOR, { id, message: 'x' }), 'incident_not_found')
  assert.equal(await revokeKey(db, OPERATOR, { keyId: id }), 'key_not_found')
  const unknown = await registerCustomer(db, OPERATOR, { name: 'Bia', referralCode: 'ZZZZZZZZ' })
  assert.deepEqual(unknown, { kind: 'code_not_found' })
  assert.deepEqual(await readRows('audit_log'), before)
  const bias = (await readRows('customers')).filter((row) => row.includes('Bia'))
  assert.deepEqual(bias, [], 'without its referrer no customer is made')
})

test('every act that takes its actor is in this test', async () => {
  const root = join(import.meta.dirname, '../..')
  const read = async (pattern: string): Promise<string> => {
    const texts: string[] = []
    for await (const file of glob(pattern, { cwd: root }))
      texts.push(await readFile(join(root, file), 'utf8'))
    return texts.join('\n')
  }
  const declared = (await read('src/**/*.ts')).matchAll(
    /export (?:async )?function (\w+)\(\s*(?:db|trx): Database,\s*actor: Actor,/g,
  )
  const names = [...declared].map(([, name = '']) => name)
  assert.ok(names.length > 50, `${names.length} acts`)
  const tests = await read('test/audit-log/*-acts.ts')
  const missing = names.filter((name) => !new RegExp(String.raw`\b${name}\(db, \w+, `).test(tests))
  assert.deepEqual(missing, [])
})
