/** The metrics of a real node: what they are labelled by, and that they tell of the parts behind a call. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { BY_OPERATOR, ask, askChat, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const MODEL = 'sandbox-chat'
const MADE_UP = 'made-up"model\\'

let gateway: TestGateway
let origin: string

before(async () => {
  gateway = await startGateway()
  origin = gateway.node.baseUrl.replace('/v1', '')
})

after(() => gateway.stop())

async function readMetrics(): Promise<string[]> {
  const { status, text } = await ask(origin, '/metrics', BY_OPERATOR)
  assert.equal(status, 200)
  return text.split('\n')
}

async function valueOf(series: string): Promise<number> {
  const lines = await readMetrics()
  const line = lines.find((line) => line.startsWith(`${series} `))
  assert.ok(line, `${series} in\n${lines.filter((line) => line.startsWith('catraca')).join('\n')}`)
  return Number(line.slice(series.length))
}

test('an answered call counts under its model, status class and kind of answer', async () => {
  for (const stream of [false, true]) {
    const { status } = await askChat(origin, gateway.secret, sound(MODEL, { stream }))
    assert.equal(status, 200)
    const labels = `model="${MODEL}",status_class="2xx",stream="${stream}"`
    assert.equal(await valueOf(`catraca_request_seconds_count{${labels}}`), 1)
  }
  assert.equal(await valueOf(`catraca_requests_total{model="${MODEL}",status="200"}`), 2)
  assert.equal(await valueOf(`catraca_first_byte_seconds_count{model="${MODEL}"}`), 1)
})

test('a refused call counts under the model that it asked for, and its code', async () => {
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0.000001' })
  const refused = await askChat(origin, poor.secret, sound(MODEL, { stream: true }))
  assert.equal(refused.status, 402)
  assert.equal(await valueOf(`catraca_requests_total{model="${MODEL}",status="402"}`), 1)
  const labels = `model="${MODEL}",status_class="4xx",stream="true"`
  assert.equal(await valueOf(`catraca_request_seconds_count{${labels}}`), 1)
  const { code } = refused.json.error
  assert.equal(await valueOf(`catraca_refusals_total{code="${code}",status="402"}`), 1)
})

test('no name that a caller sends becomes a label', async () => {
  const unknown = await askChat(origin, gateway.secret, sound(MADE_UP))
  assert.equal(unknown.status, 404)
  const stranger = await askChat(origin, 'sk-of-nobody', sound(MADE_UP))
  assert.equal(stranger.status, 401)
  assert.equal(await valueOf('catraca_requests_total{model="unknown",status="404"}'), 1)
  assert.equal(await valueOf('catraca_requests_total{model="unknown",status="401"}'), 1)
  const lines = await readMetrics()
  assert.deepEqual(
    lines.filter((line) => line.includes('made-up') || line.includes('model=""')),
    [],
  )
})

test('the parts behind a call have their numbers', async () => {
  assert.ok((await valueOf('catraca_heartbeat_age_seconds')) < 20)
  assert.equal(await valueOf('catraca_lease_held'), 1)
  assert.equal(await valueOf('catraca_oldest_call_seconds'), 0)
  assert.ok((await valueOf('catraca_database_connections_max')) >= 10)
  assert.equal(await valueOf('catraca_database_waiting'), 0)
  assert.ok((await valueOf('catraca_database_connections{state="idle"}')) >= 0)
  assert.ok((await readMetrics()).some((line) => /^catraca_build_info\{version="\d/.test(line)))
})

test('a call that runs shows its age here and in the database, and an event shows in the outbox', async () => {
  await gateway.database.db
    .insertInto('events')
    .values({
      id: createId(),
      customer_id: gateway.customerId,
      type: 'topup.paid',
      data: '{}',
      created_at: new Date(),
      // So that no worker takes it meanwhile.
      due_at: new Date(Date.now() + 86_400_000),
    })
    .execute()
  const leaving = new AbortController()
  const running = fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(sound('sandbox-hang', { stream: true })),
    signal: leaving.signal,
  }).catch(() => undefined)
  // The database is read every 15 s.
  const isShown = async (): Promise<boolean> =>
    (await valueOf('catraca_oldest_call_seconds')) > 0 &&
    (await valueOf('catraca_database_oldest_hold_seconds')) > 0 &&
    (await valueOf('catraca_queue_waiting{queue="events"}')) === 1
  for (const deadline = Date.now() + 120_000; !(await isShown()); await sleep(200))
    assert.ok(Date.now() < deadline, 'neither the hold nor the event is shown')
  leaving.abort()
  await running
})

test('what waits in the database is read from the start, and an alarm counts from zero', async () => {
  assert.equal(await valueOf('catraca_nodes_alive'), 1)
  assert.equal(await valueOf('catraca_orphaned_holds'), 0)
  assert.equal(await valueOf('catraca_accounts_in_debt'), 0)
  assert.equal(await valueOf('catraca_queue_due{queue="mails"}'), 0)
  assert.equal(await valueOf('catraca_log_events_total{level="error",event="charge_corrected"}'), 0)
})
