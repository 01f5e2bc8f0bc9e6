// deep: a server of several processes
/** Restarts behind a balancer, probes, and settings that change while a server runs. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ask } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { findFreePort } from '../harness/find-free-port.ts'
import { createEmptyDatabase, seedCustomer } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { workersOf } from '../harness/workers-of.ts'
import { startNginxLike, type NginxLike, type Passed } from './nginx-like.ts'
import {
  call,
  createWorkerWorld,
  FAST,
  SLOW,
  until,
  untilReplaced,
  type WorkerWorld,
} from './worker-world.ts'

const CLIENTS = 8
const PAUSE_MS = 50
const ALONE = { WORKERS: '1', DRAIN_DELAY_SECONDS: '1', DRAIN_SECONDS: '90' }
/** On a loaded machine a balancer, or a test, may take more than a second to see that a server drains. */
const DRAINS_SLOWLY = { ...ALONE, DRAIN_DELAY_SECONDS: '4' }

let world: WorkerWorld
let secret: string

before(async () => {
  world = await createWorkerWorld()
  ;({ secret } = await seedCustomer(world.database.db, { balanceBrl: '1000' }))
})
after(() => world.close())
afterEach(() => world.calmDown())

async function probe(port: number, path: string): Promise<{ status: number; reasons: string[] }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { connection: 'close' },
  })
  const { reasons = [] } = (await answer.json()) as { reasons?: string[] }
  return { status: answer.status, reasons }
}

/** Clients that pause now and then, so that the balancer has idle connections. */
async function loadDuring(
  ports: readonly number[],
  work: (balancer: NginxLike) => Promise<void>,
): Promise<Passed[]> {
  const balancer = startNginxLike(ports)
  const body = JSON.stringify({ model: FAST, messages: [{ role: 'user', content: 'Oi' }] })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const passed: Passed[] = []
  const done = new AbortController()
  const clients = Array.from({ length: CLIENTS }, async (_, number) => {
    for (let turn = 0; !done.signal.aborted; turn += 1) {
      passed.push(await balancer.post('/v1/chat/completions', headers, body))
      // A hundred calls a second meet each step of a restart; without a pause the clients take the processor time from it.
      await sleep(turn % 20 === number ? 100 : PAUSE_MS)
    }
  })
  try {
    await work(balancer)
  } finally {
    done.abort()
    await Promise.all(clients)
    await balancer.close()
  }
  return passed
}

function assertNoneLost(passed: readonly Passed[]): void {
  assert.ok(passed.length > 100, String(passed.length))
  assert.deepEqual(
    passed.filter(({ status, lost }) => status !== 200 || lost !== undefined),
    [],
  )
}

for (const WORKERS of ['1', '2'])
  test(`restarts by SIGTERM behind a balancer lose no request, with ${WORKERS} process(es)`, async () => {
    const env = { ...DRAINS_SLOWLY, WORKERS }
    let first = await world.start({ env })
    let second = await world.start({ env })
    const passed = await loadDuring([first.port, second.port], async (balancer) => {
      await first.stop()
      first = await world.start({ last: first, env })
      // As rolling updates do.
      await until('the balancer knows it', () => balancer.isReady(first.port))
      await second.stop()
      second = await world.start({ last: second, env })
    })
    assertNoneLost(passed)
    await assertAudit(world.database)
    await Promise.all([first.stop(), second.stop()])
  })

test('a server that drains says so and serves on; then it refuses connections, and streams end whole', async () => {
  const node = await world.start({ env: DRAINS_SLOWLY })
  assert.deepEqual(await probe(node.port, '/readyz'), { status: 200, reasons: [] })
  const stream = call(node, secret, { model: SLOW, isStream: true })
  await until('the upstream has the call', () => world.waiting() === 1)
  const stopped = node.stop()
  await until('it drains', async () => (await probe(node.port, '/readyz')).status === 503)
  assert.deepEqual(await probe(node.port, '/readyz'), { status: 503, reasons: ['draining'] })
  assert.equal((await probe(node.port, '/livez')).status, 200)
  const answer = await ask(node.baseUrl, '/healthz')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('connection'), 'close')
  await until('it accepts no more', () =>
    probe(node.port, '/livez').then(
      () => false,
      () => true,
    ),
  )
  world.finish()
  assert.ok((await stream).isWhole)
  await stopped
  assert.equal(node.process.exitCode, 0)
})

test('probes answer on their own port before the migrations end, and say that the server starts', async () => {
  const database = await createEmptyDatabase()
  const client = new pg.Client(database.databaseUrl)
  await client.connect()
  await client.query(`select pg_advisory_lock(hashtextextended('migrations', 0))`)
  const port = await findFreePort()
  const starting = startTestNode({
    databaseUrl: database.databaseUrl,
    env: { PROBE_PORT: String(port) },
  })
  try {
    await until('it lives', () =>
      probe(port, '/livez').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    for (const path of ['/startupz', '/readyz'])
      assert.deepEqual(await probe(port, path), { status: 503, reasons: ['starting'] })
    assert.equal((await fetch(`http://127.0.0.1:${port}/v1/healthz`)).status, 404)
    await client.query(`select pg_advisory_unlock_all()`)
    await starting
    for (const path of ['/startupz', '/readyz', '/livez'])
      await until(path, async () => (await probe(port, path)).status === 200)
  } finally {
    await client.end()
    const node = await starting
    await node.stop()
    await node.remove()
    await database.drop()
  }
})

test('a server without its database is not ready, and lives', async () => {
  const node = await world.start({ env: ALONE })
  world.network.cut()
  await until('it is not ready', async () => (await probe(node.port, '/readyz')).status === 503)
  const { reasons } = await probe(node.port, '/readyz')
  assert.ok(reasons.includes('database'), String(reasons))
  assert.equal((await probe(node.port, '/livez')).status, 200)
  world.network.heal()
  await until('it is ready', async () => (await probe(node.port, '/readyz')).status === 200)
  await node.stop()
})

test('without workers, SIGHUP checks the settings and ends no call', async () => {
  const node = await world.start({ env: { ...ALONE, LOG_LEVEL: '' } })
  const settings = join(node.dataDir, '.env')
  const running = call(node, secret, { model: SLOW, isStream: true })
  await until('the upstream has the call', () => world.waiting() === 1)
  await writeFile(settings, 'TOPUP_MIN_BRL=none\nLOG_LEVEL=info\n')
  node.process.kill('SIGHUP')
  await untilLogged(node, '"reload_refused"')
  assert.ok(node.log.some((line) => line.includes('TOPUP_MIN_BRL: must be a whole number')))
  await writeFile(settings, 'TOPUP_MIN_BRL=30\n')
  node.process.kill('SIGHUP')
  await untilLogged(node, '"settings":["topUpMinBrl"]')
  world.finish()
  assert.ok((await running).isWhole)
  assert.equal((await call(node, secret)).status, 200)
  await node.stop()
  assert.equal(node.process.exitCode, 0)
})

test('with workers, SIGHUP reads .env anew, and a fault in it leaves all workers as they are', async () => {
  const node = await world.start()
  const settings = join(node.dataDir, '.env')
  const origin = 'https://chat.example.com'
  const allowed = async (): Promise<string | null> => {
    const headers = { origin, 'access-control-request-method': 'POST' }
    const url = `${node.baseUrl}/chat/completions`
    const answer = await fetch(url, { method: 'OPTIONS', headers })
    return answer.headers.get('access-control-allow-origin')
  }
  assert.notEqual(await allowed(), null)
  const old = await untilReplaced(node, [])
  await writeFile(settings, 'CORS_ORIGINS=none\nTOPUP_MIN_BRL=none\n')
  node.process.kill('SIGHUP')
  await untilLogged(node, '"reload_refused"')
  assert.deepEqual(workersOf(node), old)
  await writeFile(settings, 'CORS_ORIGINS=none\n')
  node.process.kill('SIGHUP')
  await untilReplaced(node, old)
  assert.equal(await allowed(), null)
  await node.stop()
})

async function untilLogged(node: TestNode, text: string): Promise<void> {
  await until(text, () => node.log.some((line) => line.includes(text)), node)
}
