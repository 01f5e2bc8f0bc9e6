// deep: processes that are killed
/**
 * kill -9 of nodes and of the database under load. Afterwards three counts are compared: the upstream's answers,
 * the clients' answers and the ledger's charges.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../src/platform/db/migrate.ts'
import { startEmbedded, type EmbeddedPostgres } from '../../src/platform/db/embedded.ts'
import { openDatabase, type OpenDatabase } from '../../src/platform/db/open.ts'
import { sql } from 'kysely'
import { untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { effort } from '../harness/effort.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { assertCallsAgree, openStoringAccount, RESOLVED_WITHIN_MS } from './assert-calls-agree.ts'
import { CALLS, startCountingUpstream, type CountingUpstream } from './counting-upstream.ts'
import { workersOf, type WorkerProcess } from '../harness/workers-of.ts'
import { startLoadClients, type LoadClients, type Received } from '../harness/load-clients.ts'

const NODE_KILLS = effort({ ordinary: 5, full: 50 })
const WORKER_KILLS = effort({ ordinary: 4, full: 40 })
const DATABASE_KILLS = effort({ ordinary: 2, full: 10 })
const CLIENTS = 8
const WHOLE_BETWEEN_KILLS = 7

let folder: string
let embedded: EmbeddedPostgres
let database: OpenDatabase
let upstream: CountingUpstream
let nodes: TestNode[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catraca-crash-'))
  embedded = await startEmbedded({ dataDir: join(folder, 'database'), log: () => {} })
  await migrate(embedded.databaseUrl)
  database = openDatabase(embedded.databaseUrl, { onError: () => {} })
  upstream = await startCountingUpstream(folder)
  nodes = await Promise.all([startNode(), startNode()])
})

after(async () => {
  await Promise.all(nodes.map((node) => node.stop('SIGKILL').then(() => node.remove())))
  upstream.stop()
  await database.close()
  await embedded.stop()
  await rm(folder, { recursive: true, force: true })
})

/** On the disk and port of `last`, if it is given. */
function startNode(last?: TestNode, env: Record<string, string> = {}): Promise<TestNode> {
  return startTestNode({
    databaseUrl: embedded.databaseUrl,
    env: { ...upstream.env, ...env },
    ...(last ? { dataDir: last.dataDir, port: last.port } : {}),
  })
}

async function underLoad(
  secret: string,
  work: (load: LoadClients) => Promise<void>,
): Promise<Received[]> {
  const load = startLoadClients({
    count: CLIENTS,
    baseUrls: () => nodes.map((node) => node.baseUrl),
    secret,
    calls: CALLS,
  })
  try {
    await work(load)
  } finally {
    await load.stop()
  }
  return load.stop()
}

async function untilWhole(load: LoadClients, count: number): Promise<void> {
  // A database that recovers beside other tests on one slow disk takes more than a minute.
  for (const deadline = Date.now() + 300_000; load.wholeSoFar < count; await sleep(20))
    assert.ok(Date.now() < deadline, `${load.wholeSoFar} of ${count} answers came whole`)
}

test(`${NODE_KILLS} kills of a node under load: each complete answer is charged once, no call is charged twice, no hold stays open`, async () => {
  const { secret, customerId } = await openStoringAccount(database.db)
  const received = await underLoad(secret, async (load) => {
    for (let kill = 0; kill < NODE_KILLS; kill++) {
      // Every kill interrupts answers, however slow the machine is.
      await untilWhole(load, load.wholeSoFar + WHOLE_BETWEEN_KILLS)
      await sleep(Math.random() * 500)
      const victim = kill % nodes.length
      const node = nodes[victim] as TestNode
      await node.stop('SIGKILL')
      nodes[victim] = await startNode(node)
    }
  })
  await assertThreeCounts(received, customerId, NODE_KILLS * (WHOLE_BETWEEN_KILLS - 1))
})

test(`${WORKER_KILLS} kills of a worker under load: each complete answer is charged once, no call is charged twice, no hold stays open`, async () => {
  const { secret, customerId } = await openStoringAccount(database.db)
  const others = nodes
  nodes = [await startNode(undefined, { WORKERS: '2' })]
  const [server] = nodes as [TestNode]
  const received = await underLoad(secret, async (load) => {
    for (let kill = 0; kill < WORKER_KILLS; kill++) {
      await untilWhole(load, load.wholeSoFar + WHOLE_BETWEEN_KILLS)
      await sleep(Math.random() * 500)
      const [victim] = await untilAllWorkers(server)
      if (victim) process.kill(victim.pid, 'SIGKILL')
    }
  })
  await assertThreeCounts(received, customerId, WORKER_KILLS * (WHOLE_BETWEEN_KILLS - 1))
  await server.stop()
  await server.remove()
  nodes = others
})

/** The worker that has served longest comes first. */
async function untilAllWorkers(server: TestNode): Promise<WorkerProcess[]> {
  for (const deadline = Date.now() + 90_000; workersOf(server).length < 2; await sleep(20))
    assert.ok(Date.now() < deadline, server.log.slice(-20).join('\n'))
  return workersOf(server)
}

test(`${DATABASE_KILLS} kills of the database under load: each complete answer is charged once, and the nodes reconnect by themselves`, async () => {
  const { secret, customerId } = await openStoringAccount(database.db)
  const received = await underLoad(secret, async (load) => {
    for (let kill = 0; kill < DATABASE_KILLS; kill++) {
      await sleep(500 + Math.random() * 1_000)
      const wholeBefore = load.wholeSoFar
      process.kill(await postmasterPid(), 'SIGKILL')
      // The next kill waits until calls are answered again.
      await untilWhole(load, wholeBefore + 40)
    }
  })
  await assertThreeCounts(received, customerId, DATABASE_KILLS * 30)
})

async function postmasterPid(): Promise<number> {
  const { rows } = await sql<{ data_directory: string }>`show data_directory`.execute(database.db)
  return Number(
    readFileSync(
      join((rows[0] as { data_directory: string }).data_directory, 'postmaster.pid'),
      'utf8',
    ).split('\n')[0],
  )
}

async function assertThreeCounts(
  received: Received[],
  customerId: string,
  wholeMin: number,
): Promise<void> {
  await untilNoHoldIsOpen(database, RESOLVED_WITHIN_MS)
  const { whole, charged, events } = await assertCallsAgree(database.db, {
    customerId,
    received,
    upstreamCalls: await upstream.calls(),
  })
  // Each format had whole answers.
  assert.deepEqual([...new Set(whole.map(({ format }) => format))].sort(), [
    'chat',
    'messages',
    'responses',
    'transcripts',
  ])
  const broken = received.filter((each) => !each.isWhole && each.status === 200).length
  assert.ok(whole.length > wholeMin, `only ${whole.length} whole answers`)
  process.stdout.write(
    `# ${received.length} asked, ${whole.length} received whole, ${broken} cut; ` +
      `${charged.length} charged (${charged.filter((event) => event.usage_kind === 'estimated').length} estimated), ` +
      `${events.length - charged.length} released\n`,
  )
}
