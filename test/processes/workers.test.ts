// deep: a server of several processes
/** A server with two workers: what they share, and what happens when one of them dies, is replaced or stops. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { revokeKey } from '../../src/customers/key-acts.ts'
import { LEASE_SECONDS } from '../../src/money/ledger/lease.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startLoadClients } from '../harness/load-clients.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { TestNode } from '../harness/test-node.ts'
import { workersOf } from '../harness/workers-of.ts'
import {
  call,
  createWorkerWorld,
  FAST,
  holdersOf,
  SLOW,
  until,
  untilReplaced,
  WORKERS,
  type Answer,
  type WorkerWorld,
} from './worker-world.ts'

const CALLS_MAX = 12
const STRANGERS_MAX = 60

let world: WorkerWorld
let node: TestNode

before(async () => {
  world = await createWorkerWorld()
  node = await world.start({
    env: { CALLS_AT_ONCE_MAX: String(CALLS_MAX), REST_RATE_LIMIT_PER_IP: String(STRANGERS_MAX) },
  })
  await untilReplaced(node, [])
})

after(() => world.close())
afterEach(() => world.calmDown())

async function seed(): Promise<{ secret: string; customerId: string; keyId: string }> {
  const { secret, customerId, key } = await seedCustomer(world.database.db, { balanceBrl: '1000' })
  return { secret, customerId, keyId: key.id }
}

/** Calls whose answers wait, on all workers. The system may give one worker as many connections as a customer may have. */
async function holdOnAll(secret: string, isStream: boolean): Promise<Promise<Answer>[]> {
  let calls: Promise<Answer>[] = []
  // Until it hears that the calls of another worker have ended, a worker refuses new ones.
  const refused = new Set<Promise<Answer>>()
  const make = (): void => {
    const asked = call(node, secret, { model: SLOW, isStream })
    calls.push(asked)
    void asked.then(({ status }) => status === 429 && refused.add(asked))
  }
  const untilSent = (): Promise<void> =>
    until('the upstream has all calls', () => {
      calls = calls.filter((asked) => !refused.has(asked))
      return world.waiting() === calls.length
    })
  await until('every worker has a call', async () => {
    if (new Set(await holdersOf(world.database, SLOW)).size === WORKERS) return true
    if (calls.length === CALLS_MAX - 1) {
      await untilSent()
      world.finish()
      await Promise.all(calls)
      calls = []
    }
    make()
    await sleep(50)
    return false
  })
  await untilSent()
  return calls
}

/** Starts `count` more streams, whose answers wait. It repeats a refused one: the workers exchange their counts a moment later. */
async function holdMore(secret: string, count: number): Promise<Promise<Answer>[]> {
  const held: Promise<Answer>[] = []
  while (held.length < count) {
    const waiting = world.waiting()
    let isRefused = false
    const asked = call(node, secret, { model: SLOW, isStream: true })
    void asked.then(({ status }) => (isRefused = status === 429))
    await until('the call is sent or refused', () => world.waiting() > waiting || isRefused, node)
    if (!isRefused) held.push(asked)
  }
  return held
}

async function untilNoHold(): Promise<void> {
  await until('no hold is open', async () => (await holdersOf(world.database)).length === 0)
}

/** Each whole answer is charged once, with the amount that it shows; nothing is charged twice or corrected. */
async function assertChargedOnce(answers: readonly Answer[], customerId: string): Promise<void> {
  const { db } = world.database
  const events = await db
    .selectFrom('usage_events')
    .select(['request_id', 'cost_billed_nano_brl', 'usage_kind', 'outcome'])
    .where('customer_id', '=', customerId)
    .execute()
  const byRequest = Map.groupBy(events, (event) => event.request_id)
  for (const [requestId, found] of byRequest) assert.equal(found.length, 1, requestId)
  for (const { requestId, text } of answers.filter(({ isWhole }) => isWhole)) {
    const [event] = byRequest.get(requestId) ?? []
    const shown = /"cost_billed_brl":([\d.]+)/.exec(text)?.[1] ?? ''
    assert.equal(event?.cost_billed_nano_brl, parseBrl(shown), text)
    assert.equal(event?.usage_kind, 'exact')
  }
  const corrections = await db.selectFrom('charge_corrections').selectAll().execute()
  assert.deepEqual(corrections, [])
}

/** A refused answer costs nothing. */
async function assertNotCharged(answers: readonly Answer[], customerId: string): Promise<void> {
  const refused = answers.filter(({ isWhole }) => !isWhole)
  for (const { status } of refused) assert.equal(status, 503)
  const { rows } = await sql`
    select from usage_events where customer_id = ${customerId} and cost_billed_nano_brl > 0
      and request_id = any(${refused.map(({ requestId }) => requestId)})`.execute(world.database.db)
  assert.equal(rows.length, 0)
}

test('every worker is a node, and both answer; /metrics counts the calls of all of them', async () => {
  const { secret } = await seed()
  const calls = await holdOnAll(secret, false)
  assert.equal(await readMetric('catraca_holds_open'), calls.length)
  const series = [
    `catraca_requests_total{model="${SLOW}",status="200"}`,
    `catraca_request_seconds_count{model="${SLOW}",status_class="2xx",stream="false"}`,
  ]
  const read = (): Promise<number[]> => Promise.all(series.map((each) => readMetric(each)))
  // Of the calls that were made again because one worker had them all.
  const before = await read()
  world.finish()
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
  const counts = (await read()).map((count, place) => count - (before[place] ?? 0))
  assert.deepEqual(counts, [calls.length, calls.length])
  assert.equal(await readMetric('catraca_workers{state="ready"}'), WORKERS)
})

/** Of all workers: one that does not answer within a second is left out, and counted. 0 if there is no such series. */
async function readMetric(series: string): Promise<number> {
  let text = ''
  const find = (name: string): number => {
    const line = text.split('\n').find((line) => line.startsWith(`${name} `))
    return Number(line?.slice(name.length) ?? 0)
  }
  await until('every worker reports its numbers', async () => {
    ;({ text } = await ask(node.baseUrl.replace('/v1', ''), '/metrics', BY_OPERATOR))
    return find('catraca_workers_silent') === 0
  })
  return find(series)
}

test('a revoked key ends on every worker', async () => {
  const { secret, keyId, customerId } = await seed()
  const calls = await holdOnAll(secret, false)
  world.finish()
  await Promise.all(calls)
  await revokeKey(world.database.db, OPERATOR, { customerId, keyId })
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(node, secret)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
})

test('calls of one customer at once are limited over all workers', async () => {
  const { secret } = await seed()
  const calls = await holdOnAll(secret, false)
  while (calls.length < CALLS_MAX) calls.push(call(node, secret, { model: SLOW }))
  await until('all calls run', () => world.waiting() === CALLS_MAX)
  const statuses = async (): Promise<number[]> =>
    (await Promise.all(Array.from({ length: 16 }, () => call(node, secret)))).map(
      ({ status }) => status,
    )
  // The workers exchange their counts a moment later.
  await until('the workers know of all calls', async () =>
    (await statuses()).every((status) => status === 429),
  )
  assert.deepEqual(new Set(await statuses()), new Set([429]))
  world.finish()
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
})

test('requests without a key are limited over all workers', async () => {
  let answered = 0
  const startedAtMs = performance.now()
  for (let tries = 0; tries < 3 * STRANGERS_MAX; tries += 1) {
    const { status } = await ask(node.baseUrl, '/models', { headers: { connection: 'close' } })
    if (status === 200) answered += 1
    else assert.equal(status, 429)
  }
  // The limit refills while the test runs.
  const refilled = ((performance.now() - startedAtMs) / 60_000) * STRANGERS_MAX
  const allowed = STRANGERS_MAX + refilled
  // Between two exchanges each worker lets a few more pass; apart, they would let twice as many.
  assert.ok(answered >= STRANGERS_MAX - 10 && answered < 1.6 * allowed, `${answered} of ${allowed}`)
})

test('the holds of a killed worker are resolved before its lease ends, its calls count no longer, and the next request is answered', async () => {
  const { secret, customerId } = await seed()
  const others = await seed()
  const calls = await holdOnAll(secret, true)
  calls.push(...(await holdMore(secret, CALLS_MAX - calls.length)))
  let ended = 0
  for (const asked of calls) void asked.then(() => (ended += 1))
  // The clients have the first words, and their checkpoints are stored.
  await until('output is checkpointed', async () => {
    const { rows } = await sql`select from holds where output_tokens_seen = 0`.execute(
      world.database.db,
    )
    return rows.length === 0
  })
  const [victim] = workersOf(node)
  assert.ok(victim)
  process.kill(victim.pid, 'SIGKILL')
  await until('its holds are resolved', async () => {
    return !(await holdersOf(world.database)).includes(victim.worker)
  })
  const { rows } = await sql<{ in_time: boolean }>`
    select fenced_at < seen_at + make_interval(secs => ${LEASE_SECONDS}) as in_time from nodes
    where worker = ${victim.worker} and fenced_at is not null`.execute(world.database.db)
  assert.deepEqual(rows, [{ in_time: true }])
  assert.equal((await call(node, others.secret)).status, 200)
  // As many places as the worker had calls are free, and not one more.
  calls.push(...(await holdMore(secret, ended)))
  await until('the customer has all places', async () => (await call(node, secret)).status === 429)
  world.finish()
  const answers = await Promise.all(calls)
  assert.ok(answers.some(({ isWhole }) => isWhole))
  assert.ok(answers.some(({ isWhole }) => !isWhole))
  await untilNoHold()
  await assertChargedOnce(answers, customerId)
  await untilReplaced(node, [victim])
  await assertAudit(world.database)
})

test('a charge in the spool of a killed worker is charged exactly, once, by the parent', async () => {
  const { secret, customerId } = await seed()
  const calls = await holdOnAll(secret, false)
  await until('the holds are durable', async () => {
    const { rows } = await sql`select from holds where dispatched_at is null`.execute(
      world.database.db,
    )
    return rows.length === 0
  })
  // The workers learn it a moment later.
  await sleep(500)
  world.network.cut()
  world.finish()
  const answers = await Promise.all(calls)
  const dead = workersOf(node)
  for (const { pid } of dead) process.kill(pid, 'SIGKILL')
  world.network.heal()
  await untilReplaced(node, dead)
  await untilNoHold()
  // A worker that did not learn it before the cut refuses its answer: only a durable hold lets a charge into the spool.
  assert.ok(
    answers.some(({ isWhole }) => isWhole),
    JSON.stringify(answers),
  )
  await assertChargedOnce(answers, customerId)
  await assertNotCharged(answers, customerId)
  await assertAudit(world.database)
})

test('SIGHUP replaces every worker, and no call under load fails', async () => {
  const { secret, customerId } = await seed()
  const busy = await seed()
  const load = startLoadClients({
    count: 6,
    baseUrls: () => [node.baseUrl],
    secret: busy.secret,
    calls: [FAST],
  })
  const slow = await holdOnAll(secret, true)
  const old = workersOf(node)
  node.process.kill('SIGHUP')
  await until(
    'new workers serve beside the old ones',
    () => workersOf(node).length === 2 * WORKERS,
    node,
  )
  const before = load.wholeSoFar
  await until('calls are answered', () => load.wholeSoFar > before + 20)
  world.finish()
  for (const { isWhole } of await Promise.all(slow)) assert.ok(isWhole)
  await untilReplaced(node, old)
  const received = await load.stop()
  assert.deepEqual(
    received.filter(({ isWhole }) => !isWhole),
    [],
  )
  await untilNoHold()
  await assertChargedOnce(await Promise.all(slow), customerId)
  for (const { requestId, costBilledBrl } of received) {
    const { rows } = await sql<{ billed: bigint }>`
      select cost_billed_nano_brl as billed from usage_events where request_id = ${requestId}`.execute(
      world.database.db,
    )
    assert.deepEqual(rows, [{ billed: parseBrl(costBilledBrl ?? '') }])
  }
})

test('SIGTERM lets the running calls of all workers end', async () => {
  const { secret } = await seed()
  const calls = [...(await holdOnAll(secret, false))]
  const stopped = node.stop()
  await until('it stops', () => node.log.some((line) => line.includes('"stopping"')))
  world.finish()
  for (const { isWhole } of await Promise.all(calls)) assert.ok(isWhole)
  await stopped
  assert.equal(node.process.exitCode, 0)
  assert.deepEqual(workersOf(node), [])
  await assertAudit(world.database)
})
