import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import {
  claimDue,
  lockDue,
  recordClaimed,
  type ClaimableRows,
  type DueRows,
} from '../../src/platform/db/due-rows.ts'
import { connectionConfig, openDatabase } from '../../src/platform/db/open.ts'
import { workOff } from '../../src/platform/db/work-off.ts'
import { createTestDatabase } from '../harness/test-database.ts'

/** No test takes as long, however slow the machine is. */
const LEASE_MS = 60_000
const JOBS: ClaimableRows = {
  table: 'test_jobs',
  key: ['owner', 'id'],
  isDue: sql`q.outcome is null and q.due_at <= now()`,
  orderBy: sql`q.due_at, q.id`,
  lease: sql`tries = q.tries + 1, due_at = now() + make_interval(secs => ${LEASE_MS / 1_000})`,
}

interface Job {
  readonly owner: string
  readonly id: number
  readonly tries: number
}

const database = await createTestDatabase()
const { databaseUrl, db } = database
await sql`
  create table public.test_jobs (
    owner text not null, id int4 not null, due_at timestamptz not null default now(),
    tries int4 not null default 0, outcome text, primary key (owner, id))`.execute(db)
after(() => database.drop())

beforeEach(async () => {
  await sql`truncate test_jobs`.execute(db)
})

async function addJobs(count: number): Promise<void> {
  await sql`
    insert into test_jobs (owner, id, due_at)
    select 'a', n, now() - make_interval(secs => 60 - n * 0.01) from generate_series(1, ${count}::int4) n`.execute(
    db,
  )
}

async function readJobs(): Promise<{ id: number; tries: number; outcome: string | null }[]> {
  const { rows } = await sql<{ id: number; tries: number; outcome: string | null }>`
    select id, tries, outcome from test_jobs order by id`.execute(db)
  return rows
}

/** As if the time of a lease had passed. */
async function letLeasePass(): Promise<void> {
  await sql`
    update test_jobs set due_at = due_at - make_interval(secs => ${LEASE_MS / 1_000})`.execute(db)
}

function record(job: Job, outcome: string): Promise<boolean> {
  return recordClaimed(db, JOBS, job, { set: sql`outcome = ${outcome}` })
}

test('of two workers at once, each row is claimed by one, the rows that are due first before the others', async () => {
  await addJobs(200)
  const longLease: ClaimableRows = {
    ...JOBS,
    lease: sql`tries = q.tries + 1, due_at = now() + interval '1 hour'`,
  }
  const other = openDatabase(databaseUrl, { onError: () => {} })
  // Connected: otherwise the first worker could have done all before the second one begins.
  await sql`select`.execute(other.db)
  const ids: number[] = []
  const run = (ownDb: typeof db): Promise<number> =>
    workOff<Job>({
      claim: (limit) => claimDue<Job>(ownDb, longLease, limit),
      async work(job) {
        ids.push(job.id)
        assert.equal(await recordClaimed(ownDb, JOBS, job, { set: sql`outcome = 'done'` }), true)
      },
      claimMax: 3,
      atOnce: 2,
    })
  const counts = await Promise.all([run(db), run(other.db)])
  await other.close()
  assert.equal(counts[0] + counts[1], 200)
  assert.ok(
    counts.every((count) => count > 0),
    `both worked: ${counts.join(' and ')}`,
  )
  assert.equal(new Set(ids).size, 200)
  assert.ok(Math.max(...ids.slice(0, 6)) <= 12, `begun with ${ids.slice(0, 6).join(', ')}`)
  const jobs = await readJobs()
  assert.ok(jobs.every(({ tries, outcome }) => tries === 1 && outcome === 'done'))
})

test('a worker that dies between its claim and its record: the row is due again when the lease is over', async () => {
  await addJobs(1)
  // The connection that claimed the row is closed, as when its process dies.
  const dying = openDatabase(databaseUrl, { onError: () => {} })
  const [lost] = await claimDue<Job>(dying.db, JOBS, 1)
  await dying.close()
  assert.equal(lost?.tries, 1)
  assert.deepEqual(await claimDue(db, JOBS, 1), [], 'not while the lease lasts')
  await letLeasePass()
  const [again] = await claimDue<Job>(db, JOBS, 1)
  assert.deepEqual([again?.id, again?.tries], [lost.id, 2])
  assert.equal(await record(again as Job, 'second'), true)
  assert.deepEqual(await readJobs(), [{ id: 1, tries: 2, outcome: 'second' }])
})

test('a late result is not recorded once another worker has claimed the row', async () => {
  await addJobs(1)
  const [late] = await claimDue<Job>(db, JOBS, 1)
  await letLeasePass()
  const [next] = await claimDue<Job>(db, JOBS, 1)
  assert.equal(await record(late as Job, 'late'), false)
  assert.deepEqual(await readJobs(), [{ id: 1, tries: 2, outcome: null }])
  assert.equal(await record(next as Job, 'next'), true)
  assert.equal(await record(late as Job, 'late'), false)
  assert.deepEqual(await readJobs(), [{ id: 1, tries: 2, outcome: 'next' }])
})

test('a late result is recorded if no worker has claimed the row since', async () => {
  await addJobs(1)
  const [late] = await claimDue<Job>(db, JOBS, 1)
  await letLeasePass()
  assert.equal(await record(late as Job, 'late'), true)
  assert.deepEqual(await claimDue(db, JOBS, 1), [])
})

test('an outcome is recorded only if the row is in the expected state', async () => {
  await addJobs(2)
  const [job] = await claimDue<Job>(db, JOBS, 1)
  await sql`update test_jobs set outcome = 'canceled' where id = ${job?.id}`.execute(db)
  const isRecorded = await recordClaimed(db, JOBS, job as Job, {
    set: sql`outcome = 'done'`,
    where: sql`q.outcome is null`,
  })
  assert.equal(isRecorded, false)
  const [first, second] = await readJobs()
  assert.deepEqual([first?.outcome, second?.outcome], ['canceled', null])
})

test('a locked row is skipped, and is unchanged when its worker dies', async () => {
  await addJobs(2)
  const client = new pg.Client(connectionConfig(databaseUrl))
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query('select 1 from test_jobs where id = 1 for update')
  await client.query("update test_jobs set outcome = 'half done' where id = 1")
  const next = (): Promise<Job | undefined> =>
    db.transaction().execute((trx) => lockDue<Job>(trx, JOBS))
  assert.equal((await next())?.id, 2)
  assert.equal((await claimDue<Job>(db, JOBS, 5))[0]?.id, 2)
  const pid = (client as unknown as { processID: number }).processID
  await sql`select pg_terminate_backend(${pid}, 5000)`.execute(db)
  assert.equal((await next())?.id, 1)
  assert.equal((await readJobs())[0]?.outcome, null)
})

test('a lock needs a transaction, so a claim outside of one is refused', async () => {
  const due: DueRows = JOBS
  await assert.rejects(lockDue(db, due), /transaction/)
})

test('a run keeps to its limits, and the failure of one row does not delay the others', async () => {
  await addJobs(20)
  const limits: number[] = []
  const failed: number[] = []
  let running = 0
  let runningMost = 0
  const claimed = await workOff<Job>({
    claim(limit) {
      limits.push(limit)
      return claimDue<Job>(db, JOBS, limit)
    },
    async work(job) {
      running += 1
      runningMost = Math.max(runningMost, running)
      await sleep(5)
      running -= 1
      if (job.id % 4 === 0) throw new Error('as the test wants it')
      await record(job, 'done')
    },
    onFailure: (job) => failed.push(job.id),
    claimMax: 5,
    atOnce: 3,
    runMax: 12,
  })
  assert.equal(claimed, 12)
  assert.deepEqual(limits, [5, 5, 2])
  assert.equal(runningMost, 3)
  assert.deepEqual(
    failed.toSorted((left, right) => left - right),
    [4, 8, 12],
  )
  assert.equal((await readJobs()).filter(({ outcome }) => outcome === 'done').length, 9)
})

test('without a failure handler the run rejects at the first failure, after the rows in progress', async () => {
  await addJobs(10)
  let ended = 0
  const run = workOff<Job>({
    claim: (limit) => claimDue<Job>(db, JOBS, limit),
    async work(job) {
      await sleep(job.id === 1 ? 1 : 30)
      ended += 1
      if (job.id === 1) throw new Error('the first one')
    },
    claimMax: 1,
    atOnce: 2,
  })
  await assert.rejects(run, /the first one/)
  assert.equal(ended, 2)
  assert.equal((await readJobs()).filter(({ tries }) => tries > 0).length, 2)
})

test('a claim that fails rejects the run after the rows in progress', async () => {
  let ended = 0
  let claims = 0
  const failing = workOff<number>({
    async claim() {
      claims += 1
      if (claims === 2) throw new Error('no database')
      return [1]
    },
    async work() {
      await sleep(20)
      ended += 1
    },
    claimMax: 1,
    atOnce: 2,
  })
  await assert.rejects(failing, /no database/)
  assert.equal(ended, 1)
})
