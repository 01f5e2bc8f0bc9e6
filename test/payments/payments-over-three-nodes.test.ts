// deep: an attack
/**
 * Automatic and asked top-ups, refunds and events of the processor on three nodes, one await at a time in an order that a
 * seed decides. Nodes are suspended and killed, time passes, answers are lost, requests and events come late, twice, in
 * any order or are false. In the end our books are compared with what the processor holds.
 *
 * A processor without idempotency keys does not protect from a request that leaves after its node was suspended in the
 * very moment of sending it: those are counted (`World.residues`).
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { effort, seedOr } from '../harness/effort.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'
import { openDatabaseClock } from './payments-over-three-nodes/database-clock.ts'
import { World } from './payments-over-three-nodes/world.ts'

const SEED = seedOr(1)
const SCHEDULES = effort({ ordinary: 24, full: 1_000 })
const STEPS = 150

let database: TestDatabase
let clock: Awaited<ReturnType<typeof openDatabaseClock>>
before(async () => {
  database = await createTestDatabase()
  clock = await openDatabaseClock(database)
  await watchCharges()
})
after(async () => {
  await clock.close()
  await database.drop()
})

/** Notes why an automatic top-up should not have been stored. */
async function watchCharges(): Promise<void> {
  await sql
    .raw(
      `create table watched_charges (top_up_id uuid, why text);
      create function watch_charge() returns trigger language plpgsql as $$ begin
        insert into watched_charges select new.id, concat_ws(', ',
          case when a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl >= s.threshold_nano_brl
            then 'no shortage' end,
          case when s.is_enabled is not true then 'off' end,
          case when c.suspended_at is not null then 'suspended' end)
        from accounts a join customers c on c.id = a.customer_id
        left join automatic_top_ups s on s.customer_id = a.customer_id
        where a.customer_id = new.customer_id;
        return new; end $$;
      create trigger watch_charge after insert on top_ups for each row
        when (new.is_automatic) execute function watch_charge()`,
    )
    .execute(database.db)
}

for (let seed = SEED; seed < SEED + SCHEDULES; seed++)
  test(`our books say what the processor holds (seed ${seed})`, async () => {
    const world = new World({ db: database.db, pool: clock.pool }, seed)
    await world.setUp()
    try {
      await world.run(STEPS)
    } finally {
      await world.close()
    }
    assert.deepEqual(world.faults, [], world.trace.join('\n'))
  })
