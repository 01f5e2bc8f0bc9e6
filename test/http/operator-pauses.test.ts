/** Operators' pauses: of all model calls, and of one key. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { pauseKey, pauseLeakedKey, resumeKey } from '../../src/customers/key-acts.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { actsOn, startWithAdmins, type TestAdmins } from '../harness/admins.ts'
import { ask, askChat, billedIn, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'

let admins: TestAdmins
let second: LocalNode

before(async () => {
  admins = await startWithAdmins({ FINANCE_EMAILS: 'caixa@admin.example' })
  second = await startLocalNode({ databaseUrl: admins.gateway.database.databaseUrl })
})
after(async () => {
  await second.stop()
  await second.remove()
  await admins.gateway.stop()
})

function command(...args: string[]) {
  const { database, node } = admins.gateway
  return runCli(args, { DATABASE_URL: database.databaseUrl, DATA_DIR: node.dataDir })
}

/** The state by notification only, as on a node that nobody asked. */
async function untilStatus(url: string, secret: string, status: number): Promise<void> {
  const deadline = Date.now() + 30_000
  while ((await askChat(url, secret, sound())).status !== status) {
    assert.ok(Date.now() < deadline, `${url} does not answer ${status}`)
    await sleep(10)
  }
}

test('an operator pauses all model calls on every node, running ones end and are charged, and the pause outlives a restart', async () => {
  const { gateway, ana } = admins
  const { db, databaseUrl } = gateway.database
  const { baseUrl } = gateway.node
  const { customerId, secret } = gateway
  const before = await findAccount(db, customerId)
  const running = askChat(second.baseUrl, secret, sound('sandbox-slow'))
  while ((await findAccount(db, customerId))?.heldNanoBrl === 0n) await sleep(5)

  assert.equal((await ana.call('/admin/service/pause', { reason: 'ataque' })).status, 200)
  for (const [path, body] of [
    ['/chat/completions', sound()],
    ['/messages', { ...sound(), max_tokens: 9 }],
    ['/responses', { model: 'sandbox-chat', input: 'Oi' }],
    ['/embeddings', { model: 'sandbox-embedding', input: 'Oi' }],
    ['/images/generations', { model: 'sandbox-image', prompt: 'Oi' }],
  ] as const) {
    const refused = await ask(baseUrl, path, { secret, body })
    assert.equal(refused.status, 503, `${path}: ${refused.text}`)
    assert.match(refused.text, /service_paused/)
    assert.match(refused.text, /pausadas pela operação do serviço.*Nada foi cobrado/)
    assert.equal(refused.headers.get('retry-after'), '60')
  }
  await untilStatus(second.baseUrl, secret, 503)
  assert.equal((await askChat(baseUrl, 'sk-svc-none', sound())).status, 401)
  assert.equal((await ask(baseUrl, '/usage', { secret })).status, 200)
  assert.equal((await ask(baseUrl, '/models')).status, 200)
  const health = await ana.call('/admin/health')
  assert.equal(health.json.pause.reason, 'ataque')

  const answered = await running
  assert.equal(answered.status, 200, answered.text)
  assert.ok(Number(billedIn(answered.text)) > 0)
  assert.ok((await findAccount(db, customerId))!.chargedNanoBrl > before!.chargedNanoBrl)

  await second.stop()
  second = await startLocalNode({ databaseUrl, dataDir: second.dataDir })
  assert.equal((await askChat(second.baseUrl, secret, sound())).status, 503)

  const { code, stdout } = await command('service', 'resume')
  assert.deepEqual([code, stdout.trim()], [0, 'resumed'])
  for (const url of [baseUrl, second.baseUrl]) await untilStatus(url, secret, 200)
  assert.match((await command('service', 'resume')).stdout, /was not paused/)
  await assertAudit(gateway.database)
})

test('only an administrator pauses the service; finance pauses a key', async () => {
  const { gateway } = admins
  const { db } = gateway.database
  const at = { db, dataDir: gateway.node.dataDir }
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const finance = await openOperatorSession(at, customerId, 'caixa@admin.example')
  const post = (path: string, body?: unknown) =>
    ask(gateway.node.baseUrl, path, { secret: finance, method: 'POST', body })
  assert.equal((await post('/admin/service/pause', { reason: 'teste' })).status, 403)
  assert.equal((await post('/admin/service/resume')).status, 403)
  const { key } = await seedCustomer(db, { balanceBrl: '0' })
  assert.equal((await post(`/admin/api-keys/${key.id}/pause`)).status, 200)
})

test("an operator's pause of a key goes over the owner's, and lifting it puts the owner's back", async () => {
  const { gateway, ana } = admins
  const { db } = gateway.database
  const { baseUrl } = gateway.node
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  const wanted = { customerId, keyId: key.id }
  const owner = { kind: 'customer', customerId } as const
  await pauseKey(db, owner, wanted)
  const paused = await ana.call(`/admin/api-keys/${key.id}/pause`, undefined, 'POST')
  assert.deepEqual(paused.json, { id: key.id, is_paused: true })
  const refused = await askChat(baseUrl, secret, sound())
  assert.equal(refused.json.error.code, 'key_paused')
  assert.match(refused.json.error.message, /pela operação do serviço/)
  assert.equal(await resumeKey(db, owner, wanted), 'paused_by_operator')
  const shown = await ana.call(`/admin/customers/${customerId}`)
  assert.equal(shown.json.last_keys[0].paused_reason, 'operator')

  const { stdout } = await command('key', 'resume', key.id)
  assert.match(stdout, /stays paused for its owner/)
  assert.equal((await askChat(baseUrl, secret, sound())).json.error.code, 'key_paused')
  assert.equal(await resumeKey(db, owner, wanted), 'resumed')
  assert.equal((await askChat(second.baseUrl, secret, sound())).status, 200)
  assert.deepEqual(
    (await actsOn(gateway, key.id)).map(({ action, details }) => [action, details]),
    [
      ['api_key.paused', { reason: 'owner' }],
      ['api_key.paused', { reason: 'operator' }],
      ['api_key.resumed', { still_paused: 'owner' }],
      ['api_key.resumed', null],
    ],
  )
})

test("a leak that is reported under an operator's pause keeps the key paused when the operator lifts it", async () => {
  const { gateway, ana } = admins
  const { db } = gateway.database
  const { key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  assert.equal((await command('key', 'pause', key.id)).stdout.trim(), 'paused')
  await pauseLeakedKey(db, SYSTEM, secret)
  const lifted = await ana.call(`/admin/api-keys/${key.id}/resume`, undefined, 'POST')
  assert.deepEqual(lifted.json, { id: key.id, is_paused: true })
  const refused = await askChat(gateway.node.baseUrl, secret, sound())
  assert.match(refused.json.error.message, /segredo dela está exposto/)
})

test('no operator pauses or resumes a key of their own', async () => {
  const { gateway, ana } = admins
  const { db } = gateway.database
  const { id } = await db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', ana.customerId)
    .executeTakeFirstOrThrow()
  for (const act of ['pause', 'resume']) {
    const refused = await ana.call(`/admin/api-keys/${id}/${act}`, undefined, 'POST')
    assert.deepEqual([refused.status, refused.json.error], [403, 'own_account'])
  }
})
