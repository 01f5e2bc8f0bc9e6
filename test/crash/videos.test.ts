// deep: processes that are killed
/** kill -9 at each step of a video: before its upstream has answered, before its row, while it is made, at its charge. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { ask } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import {
  createTestDatabase,
  seedCustomer,
  withClient,
  type TestDatabase,
} from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import {
  say,
  startVideoUpstream,
  videoConfig,
  type VideoUpstream,
} from '../harness/video-upstream.ts'

let database: TestDatabase
let upstream: VideoUpstream
let configFile: ConfigFile
let node: TestNode

before(async () => {
  database = await createTestDatabase()
  upstream = await startVideoUpstream()
  configFile = await writeConfigFile(videoConfig(upstream))
})
after(async () => {
  await node?.stop('SIGKILL')
  await Promise.all([upstream.close(), configFile.remove()])
  await database.drop()
})

const startNode = async (dataDir?: string): Promise<TestNode> =>
  startTestNode({
    databaseUrl: database.databaseUrl,
    env: { CATRACA_CONFIG: configFile.path },
    ...(dataDir ? { dataDir } : {}),
  })

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isSo()); await sleep(10))
    assert.ok(Date.now() < deadline, what)
}

const rows = (table: 'holds' | 'usage_events' | 'videos', customerId: string) =>
  database.db.selectFrom(table).selectAll().where('customer_id', '=', customerId).execute()

/** Kills the node when `isThere`, and lets another one go on. */
async function killAt(customerId: string, isThere: () => Promise<boolean> | boolean) {
  await until('the step is reached', isThere)
  await node.stop('SIGKILL')
  // Of a dead node, the lease must end first.
  await sql`update nodes set seen_at = seen_at - interval '1 minute' where stopped_at is null`.execute(
    database.db,
  )
  return (await rows('holds', customerId)).length
}

test('a node that is killed at any step of a video leaves one charge or none, and the books agree', async () => {
  const { db, databaseUrl } = database
  node = await startNode()
  const begin = async () => {
    const { secret, customerId } = await seedCustomer(db, { balanceBrl: '50' })
    const body = { model: 'film', prompt: 'Oi' }
    const asked = ask(node.baseUrl, '/videos', { secret, body }).catch(() => undefined)
    return { customerId, secret, asked }
  }
  const goOn = async (customerId: string): Promise<string> => {
    node = await startNode(node.dataDir)
    await untilNoHoldIsOpen(database, 90_000)
    const events = await rows('usage_events', customerId)
    assert.equal(events.length, 1)
    return (events[0] as { outcome: string }).outcome
  }

  // The upstream has the request, and says nothing.
  const posts = () => upstream.requests.filter(({ kind }) => kind === 'POST').length
  upstream.play.POST = () => {}
  const first = await begin()
  assert.equal(await killAt(first.customerId, () => posts() === 1), 1)
  delete upstream.play.POST
  assert.equal(await goOn(first.customerId), 'released')
  assert.deepEqual(await rows('videos', first.customerId), [])

  // It has answered, and the row is not there yet.
  const second = await withClient(databaseUrl, async (client) => {
    await client.query('begin')
    await client.query('lock table videos in access exclusive mode')
    const begun = await begin()
    // On another connection: within a transaction, the view stays as it was.
    const isWaiting = async () =>
      (
        await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into videos%'`.execute(
          db,
        )
      ).rows.length > 0
    await until('the row waits', isWaiting)
    await node.stop('SIGKILL')
    // Its statement goes with its connection.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where query like '%insert into videos%'
      and pid <> pg_backend_pid()`.execute(db)
    await client.query('rollback')
    return begun
  })
  assert.equal(await second.asked, undefined, 'nobody was told of a video')
  await sql`update nodes set seen_at = seen_at - interval '1 minute' where stopped_at is null`.execute(
    db,
  )
  assert.equal(await goOn(second.customerId), 'released')
  assert.deepEqual(await rows('videos', second.customerId), [])

  // The upstream works on it.
  upstream.play.GET = say({ status: 'in_progress', progress: 5 })
  const third = await begin()
  const gets = upstream.requests.length
  assert.equal((await third.asked)?.status, 200)
  assert.equal(await killAt(third.customerId, () => upstream.requests.length > gets + 1), 1)
  delete upstream.play.GET
  assert.equal(await goOn(third.customerId), 'charged')

  // It is charged, and the row does not say so yet.
  await sql`create function public.wait_here() returns trigger language plpgsql as
    $$ begin perform pg_sleep(30); return new; end $$`.execute(db)
  await sql`create trigger wait_here before update on videos for each row
    when (new.status = 'completed') execute function public.wait_here()`.execute(db)
  const fourth = await begin()
  assert.equal((await fourth.asked)?.status, 200)
  const isCharged = async () => (await rows('usage_events', fourth.customerId)).length === 1
  assert.equal(await killAt(fourth.customerId, isCharged), 0)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query like '%update%videos%'
    and pid <> pg_backend_pid()`.execute(db)
  await sql`drop trigger wait_here on videos`.execute(db)
  assert.equal(await goOn(fourth.customerId), 'charged')
  const isDone = async () =>
    (await rows('videos', fourth.customerId)).every(
      (row) => (row as { status: string }).status === 'completed',
    )
  await until('its row says so', isDone)
  assert.equal((await rows('usage_events', fourth.customerId)).length, 1)
  await assertAudit(database)
})
