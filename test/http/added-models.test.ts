/** Operators write models while servers run: with prices, limits and routes, as in the file. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { actsOn, startWithAdmins, type TestAdmins } from '../harness/admins.ts'
import { ask, askChat, billedIn, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import {
  startScriptedUpstream,
  status,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const ID = 'meu-modelo'
const ENTRY = {
  category: 'llm',
  prices: { input: '1000', output: '2000' },
  routes: [{ upstream: 'primeiro', model: 'm1' }],
  context_tokens: 8_000,
  max_output_tokens: 500,
}

const PRICED_ROUTE = { ...ENTRY.routes[0], prices: { input: '9000', output: '9000' } }

let upstream: ScriptedUpstream
let file: ConfigFile
let admins: TestAdmins
let other: LocalNode

before(async () => {
  upstream = await startScriptedUpstream()
  const to = (id: string): object => ({
    id,
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    retries: 0,
    breaker: { failures: 0 },
  })
  file = await writeConfigFile({
    upstreams: [to('primeiro'), to('segundo')] as never,
    models: [{ id: 'do-arquivo', ...ENTRY }] as never,
  })
  const env = { CATRACA_CONFIG: file.path }
  admins = await startWithAdmins(env)
  other = await startLocalNode({ databaseUrl: admins.gateway.database.databaseUrl, env })
})
after(async () => {
  await other?.stop()
  await other?.remove()
  await admins?.gateway.stop()
  await upstream?.close()
  await file?.remove()
})

const put = (entry: object, id = ID) =>
  admins.ana.call(`/admin/models/${encodeURIComponent(id)}`, entry, 'PUT')
const drop = (id = ID) => admins.ana.call(`/admin/models/${id}`, undefined, 'DELETE')
const chat = (model = ID, baseUrl = admins.gateway.node.baseUrl) =>
  askChat(baseUrl, admins.gateway.secret, sound(model))

async function shown(id = ID) {
  const { json } = await admins.ana.call('/admin/models')
  return json.models.find((model: { id: string }) => model.id === id)
}

async function untilStatus(wanted: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    const answered = await chat(ID, other.baseUrl)
    if (answered.status === wanted) return
    assert.ok(Date.now() < deadline, answered.text)
  }
}

test('a written model answers on all nodes at its prices, until it is deleted', async () => {
  assert.equal((await chat()).status, 404)
  const written = await put(ENTRY)
  const isNew = { id: ID, is_new: true, prices_from: null }
  assert.deepEqual([written.status, written.json], [200, isNew], written.text)
  const first = await chat()
  // 11 and 5 tokens at USD 0.001 and 0.002, at 5.2 and 1.25.
  assert.equal(billedIn(first.text), '0.1365', first.text)
  await untilStatus(200)
  const { source, entry } = await shown()
  assert.deepEqual([source, entry], ['browser', ENTRY])
  const { json: catalog } = await ask(admins.gateway.node.baseUrl, '/models')
  assert.ok(catalog.data.some(({ id }: { id: string }) => id === ID))

  assert.equal((await drop()).status, 200)
  assert.equal((await chat()).status, 404)
  await untilStatus(404)
  const gone = await drop()
  assert.deepEqual([gone.status, gone.json.error], [404, 'model_not_found'])
  assert.deepEqual(
    (await actsOn(admins.gateway, ID)).map(({ action }) => action),
    ['model.entry_added', 'model.entry_deleted'],
  )
  await assertAudit(admins.gateway.database)
})

test('a lower price of a written model holds at once, a higher one after the notice, and both are in its history', async () => {
  const at = (output: string) => ({ ...ENTRY, prices: { input: '1000', output } })
  assert.equal((await put(at('4000'))).json.is_new, true)
  assert.equal(billedIn((await chat()).text), '0.2015')
  const lower = await put(at('2000'))
  assert.ok(Date.parse(lower.json.prices_from) <= Date.now(), lower.text)
  assert.equal(billedIn((await chat()).text), '0.1365')
  const higher = await put(at('3000'))
  assert.ok(Date.parse(higher.json.prices_from) > Date.now() + 86_400_000, higher.text)
  assert.equal(billedIn((await chat()).text), '0.1365')
  // Nor is a slip taken, nor a price that would come without a notice.
  for (const slip of [{ prices: { input: '0', output: '0' } }, { routes: [PRICED_ROUTE] }]) {
    const refused = await put({ ...at('3000'), ...slip })
    assert.equal(refused.status, 400, refused.text)
  }
  // Its other fields change without the prices.
  const named = await put({ ...at('3000'), display_name: 'Meu' })
  assert.deepEqual(named.json, { id: ID, is_new: false, prices_from: null })
  const page = await fetch(admins.gateway.node.baseUrl.replace('/v1', `/modelos/${ID}`))
  const text = await page.text()
  assert.match(text, /saída de US\$\s*4\.?000,00 para US\$\s*2\.?000,00/)
  assert.match(text, /saída de US\$\s*2\.?000,00 para US\$\s*3\.?000,00/)
  await drop()
  // What is written again is a new model.
  assert.equal((await put(at('4000'))).json.is_new, true)
  assert.equal(billedIn((await chat()).text), '0.2015')
  await drop()
})

test('the routes of a built-in model are asked by their priority, and it is as it was when they are taken back', async () => {
  const before = await shown('gpt-4o')
  const routes = [
    { upstream: 'segundo', model: 'm2', priority: 0 },
    { upstream: 'primeiro', model: 'm1', priority: 1 },
  ]
  assert.equal((await put({ routes }, 'gpt-4o')).status, 200)
  upstream.play('m2', status(500))
  const answered = await chat('gpt-4o')
  assert.equal(answered.status, 200, answered.text)
  const [second, first] = ['m2', 'm1'].map((model) => upstream.callsOf(model).at(-1)?.atMs ?? 0)
  assert.ok(second && first && second < first)
  assert.deepEqual((await shown('gpt-4o')).price, before.price)
  assert.equal((await drop('gpt-4o')).status, 200)
  assert.deepEqual(await shown('gpt-4o'), before)
})

test('a model with a fault, and one that the file has, is not written', async () => {
  const faulty: [object, RegExp][] = [
    [{ ...ENTRY, routes: [{ upstream: 'nenhum', model: 'm' }] }, /nenhum/],
    [{ ...ENTRY, routes: [] }, /routes/],
    [{ ...ENTRY, prices: { input: '-1', output: '1' } }, /prices/],
    [{ ...ENTRY, prices: { input: '1' } }, /output/],
    [{ routes: ENTRY.routes }, /prices/],
    [{ ...ENTRY, outro: 1 }, /outro/],
    [{ ...ENTRY, markup_multiplier: '90' }, /markup_multiplier/],
    [{ ...ENTRY, display_name: 'a\0b' }, /Unicode/],
  ]
  for (const [entry, words] of faulty) {
    const refused = await put(entry)
    assert.equal(refused.status, 400, JSON.stringify(entry))
    assert.match(refused.text, words)
  }
  const odd = await put(ENTRY, 'a b')
  assert.equal(odd.status, 400, odd.text)
  const inFile = await put(ENTRY, 'do-arquivo')
  assert.deepEqual([inFile.status, inFile.json.error], [409, 'model_in_file'])
  assert.equal((await shown('do-arquivo')).source, 'file')
  assert.equal(
    (await admins.gateway.database.db.selectFrom('added_models').selectAll().execute()).length,
    0,
  )
})
