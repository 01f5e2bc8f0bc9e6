/** The whole experience of a paying customer, with a real server, payment page, mail server and webhook receiver. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMailServer, headerOf, type MailServer } from '../harness/mail-server.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { isSignedWith, startReceiver, type Receiver } from '../harness/webhook-receiver.ts'

const EMAIL = 'marilia@example.com'
/** 5 tokens of USD 100,000 for a million, at 8.0, times 1.25: four of them use up a top-up of 20. */
const CALL = sound('exact', { max_tokens: 5 })
const TOP_UP_BRL = 20
const CALLS_OF_A_TOP_UP = 4

let folder: string
let database: TestDatabase
let mails: MailServer
let receiver: Receiver
let node: TestNode

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catraca-story-'))
  const CATRACA_CONFIG = join(folder, 'catraca.config.json')
  await writeFile(CATRACA_CONFIG, JSON.stringify({ models: [exactModel()] }))
  database = await createTestDatabase()
  mails = await startMailServer()
  receiver = await startReceiver()
  node = await startTestNode({
    databaseUrl: database.databaseUrl,
    program: 'test/start/mailing-server.ts',
    env: {
      ...LIVE_ENVIRONMENT,
      CATRACA_MODE: 'sandbox',
      CATRACA_CONFIG,
      SANDBOX_FX_RATE: '8.0000',
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      WEBHOOKS_ALLOW_PRIVATE: 'true',
    },
  })
})

after(async () => {
  await node?.stop()
  await node?.remove()
  receiver.close()
  await mails.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

function exactModel(): unknown {
  return {
    id: 'exact',
    category: 'llm',
    prices: { input: 0, output: 100_000 },
    markup_multiplier: '1.25',
    routes: [{ upstream: 'sandbox', model: 'sandbox-chat' }],
    context_tokens: 128_000,
    max_output_tokens: 4_096,
  }
}

async function until<Value>(read: () => Promise<Value> | Value, isIt: (value: Value) => boolean) {
  for (const deadline = Date.now() + 120_000; ; await sleep(50)) {
    const value = await read()
    if (isIt(value)) return value
    assert.ok(Date.now() < deadline, JSON.stringify(value))
  }
}

/** Requests a Pix, pays it with the button on its page, and waits for the money. */
async function payIn(secret: string): Promise<void> {
  const call = { secret, body: { amount: TOP_UP_BRL } }
  const { status, json, text } = await ask(node.baseUrl, '/topups', call)
  assert.equal(status, 201, text)
  const page = await (await fetch(json.page_url)).text()
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? assert.fail(page)
  await fetch(new URL(action, json.page_url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ acao: 'pagar' }),
  })
  const read = async () => (await ask(node.baseUrl, `/topups/${json.id}`, { secret })).json
  await until(read, (topUp) => topUp.status === 'paid')
}

async function balanceOf(secret: string): Promise<number> {
  await untilNoHoldIsOpen(database)
  return (await ask(node.baseUrl, '/usage', { secret })).json.balance.balance_brl
}

async function keyStatuses(secret: string): Promise<string[]> {
  const { json } = await ask(node.baseUrl, '/api-keys', { secret })
  return json.api_keys.map(({ status }: { status: string }) => status)
}

const chat = (secret: string): Promise<Asked> => askChat(node.baseUrl, secret, CALL)

async function seedReader(): Promise<{ customerId: string; secret: string }> {
  const made = await seedCustomer(database.db, { balanceBrl: '0' })
  await database.db
    .updateTable('customers')
    .set({ email: EMAIL })
    .where('id', '=', made.customerId)
    .execute()
  return made
}

const ONCE_EACH = { 'balance.depleted': 1, 'balance.restored': 1 }
const TWICE_EACH = { 'topup.created': 2, 'topup.paid': 2 }
const MAILS = { chaves_reativadas: 1, recarga_confirmada: 2, recarga_pendente: 2, saldo_zerado: 1 }

test('from a Pix to the last centavo and back: the balance, the keys, the mails and the webhooks all report each event once', async () => {
  const { customerId, secret } = await seedReader()
  const profile = { full_name: 'Marília Souza', cpf_cnpj: '529.982.247-25' }
  const saved = await ask(node.baseUrl, '/me/profile', { method: 'PUT', secret, body: profile })
  assert.equal(saved.status, 200, saved.text)
  const hook = await ask(node.baseUrl, '/webhooks', { secret, body: { url: receiver.url } })
  assert.equal(hook.status, 201, hook.text)

  assertRefusal(await chat(secret), 402, 'insufficient_balance')
  await payIn(secret)
  assert.equal(await balanceOf(secret), TOP_UP_BRL)
  assert.deepEqual(await keyStatuses(secret), ['active'])

  for (let left = CALLS_OF_A_TOP_UP; left > 0; left--) {
    const served = await chat(secret)
    assert.equal(served.status, 200, served.text)
  }
  assert.equal(await balanceOf(secret), 0)
  assert.deepEqual(await keyStatuses(secret), ['suspended'])
  assertRefusal(await chat(secret), 402, 'insufficient_balance')

  await payIn(secret)
  assert.deepEqual(await keyStatuses(secret), ['active'])
  assert.equal((await chat(secret)).status, 200)
  assert.equal(await balanceOf(secret), TOP_UP_BRL - TOP_UP_BRL / CALLS_OF_A_TOP_UP)

  await until(isAllSent, Boolean)
  // Any duplicate mail or webhook would have been sent by now.
  await node.stop()
  assertWebhooks(hook.json.signing_secret)
  await assertMails(customerId)
  await assertAudit(database)
})

async function isAllSent(): Promise<boolean> {
  const { db } = database
  const open = await Promise.all([
    db.selectFrom('events').select('id').where('dispatched_at', 'is', null).execute(),
    db.selectFrom('mails').select('id').execute(),
    db.selectFrom('webhook_attempts').select('id').where('finished_at', 'is', null).execute(),
  ])
  return open.every((rows) => rows.length === 0)
}

function assertWebhooks(signingSecret: string): void {
  const { received } = receiver
  assert.ok(received.every((one) => isSignedWith(signingSecret, one)))
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, received.length)
  const types = received.map(({ body }) => (JSON.parse(body) as { type: string }).type)
  assert.deepEqual(countIn({ ...ONCE_EACH, ...TWICE_EACH }, types), { ...ONCE_EACH, ...TWICE_EACH })
}

async function assertMails(customerId: string): Promise<void> {
  const notifications = await database.db
    .selectFrom('notifications')
    .select(['id', 'template', 'status'])
    .where('customer_id', '=', customerId)
    .execute()
  const templates = notifications.map(({ template }) => template)
  assert.deepEqual(countIn(MAILS, templates), MAILS)
  assert.ok(notifications.every(({ status }) => status === 'sent'))
  assert.ok(mails.taken.every(({ to }) => to[0] === EMAIL && to.length === 1))
  const ids = mails.taken.map(({ source }) => headerOf(source, 'message-id'))
  assert.equal(new Set(ids).size, ids.length, 'each of them arrived once')
  assert.deepEqual(new Set(ids), new Set(notifications.map(({ id }) => `<${id}@mail.example.com>`)))
}

/** How often each of the names occurs. */
function countIn(names: Readonly<Record<string, number>>, found: readonly string[]) {
  return Object.fromEntries(
    Object.keys(names).map((name) => [name, found.filter((one) => one === name).length]),
  )
}
