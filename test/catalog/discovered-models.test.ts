/** A live server of one provider's key, without a line about models: what the provider lists is sold, and nothing else. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig, type Config } from '../../src/app/config/config.ts'
import { createApp, type App } from '../../src/app/create-app.ts'
import { readUpstreamLists } from '../../src/app/workers/read-upstream-lists.ts'
import { createDiscover } from '../../src/money/catalog/reload-catalog.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { addDays, dayInBrasilia } from '../../src/platform/lib/days.ts'
import { createProcessLog, type Log } from '../../src/platform/lib/log.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { findFreePort } from '../harness/find-free-port.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { nodeEnvironment } from '../harness/node-environment.ts'
import { nothingAdded } from '../harness/nothing-added.ts'
import { runCli } from '../harness/run-cli.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const USAGE = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }

/** What the provider lists, and the answer to a request for it. */
let listed: readonly string[] = ['gpt-4o', 'gpt-5.4', 'gpt-5.4-2026-03-05', 'gpt-99-turbo']
/** When it ends what it lists. */
let shutdowns: Readonly<Record<string, unknown>> = {}
let listStatus = 200
const asked: string[] = []

const provider = createServer((request, response) => {
  const { method, url = '' } = request
  asked.push(`${method} ${url} ${request.headers.authorization}`)
  const answer = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (url === '/v1/models')
    return void answer(listStatus, { object: 'list', data: listed.map(listEntry) })
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    const { model } = JSON.parse(text)
    const message = { role: 'assistant', content: 'Olá.' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    answer(200, { id: 'c1', object: 'chat.completion', created: 1, model, choices, usage: USAGE })
  })
})

function listEntry(id: string): object {
  return { id, shutdown_date: shutdowns[id] ?? null }
}

const YESTERDAY = addDays(new Date().toISOString().slice(0, 10), -1)
const lines: string[] = []
let database: TestDatabase
let file: ConfigFile
let dataDir: string
let app: App
let config: Config
let environment: Record<string, string>
let log: Log
let baseUrl: string
let secret: string

before(async () => {
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  file = await writeConfigFile({
    upstreams: [{ id: 'openai', kind: 'openai', base_url: address }],
    models: [{ id: 'gpt-4o', ends_on: YESTERDAY }],
  })
  database = await createTestDatabase()
  const rateDate = dayInBrasilia(new Date())
  const rate = { rateE4: 50_000n, rateDate, bulletinAt: null, source: 'bcb' }
  await storeFxRate(database.db, rate)
  dataDir = await mkdtemp(join(tmpdir(), 'catraca-discovered-'))
  const { databaseUrl } = database
  const env = { ...LIVE_ENVIRONMENT, CATRACA_CONFIG: file.path, OPENAI_API_KEY: 'sk-own' }
  const port = await findFreePort()
  environment = nodeEnvironment({ databaseUrl, dataDir, port, env })
  config = loadConfig(environment, dataDir)
  log = createProcessLog('info', (line) => lines.push(line))
  app = await createApp(config, databaseUrl, log)
  baseUrl = `${await app.listen()}/v1`
  ;({ secret } = await seedCustomer(database.db, { balanceBrl: '100' }))
})

after(async () => {
  await app?.close({ delayMs: 0, withinMs: 1_000, idleMs: 0 })
  provider.closeAllConnections()
  provider.close()
  await file.remove()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** As the daily job; the node is notified. */
async function readAgain(list: readonly string[]): Promise<void> {
  listed = list
  const { db } = database
  const { models: configured } = config
  const discover = createDiscover(db, { configured, readAdded: nothingAdded(config), log })
  await readUpstreamLists({ config, db, discover, log })
}

async function untilListed(id: string, is: boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    const { json } = await ask(baseUrl, '/models', { secret })
    if (json.data.some((model: { id: string }) => model.id === id) === is) return
    assert.ok(Date.now() < deadline, `${id} is ${is ? 'not ' : ''}in the catalog`)
  }
}

test('what the provider lists answers without a line of configuration, at the price of the data', async () => {
  await untilListed('gpt-5.4', true)
  assert.ok(asked.includes('GET /v1/models Bearer sk-own'))
  // USD 2.50 and 15 per million: 1,000 and 500 tokens cost USD 0.01, at 5.0 and 1.25.
  for (const name of ['gpt-5.4', 'gpt-5.4-2026-03-05', 'openai/gpt-5.4']) {
    const { status, text, json } = await askChat(baseUrl, secret, sound(name, { max_tokens: 500 }))
    assert.equal(status, 200, text)
    assert.match(text, /"cost_billed_brl":0\.0625\b/)
    assert.equal(json.model, 'gpt-5.4', text)
  }
})

test('what the provider does not list, and what nobody can price, is 404 and reported', async () => {
  await untilListed('gpt-5.4', true)
  for (const name of ['gpt-5.4x', 'gpt-5.4-mini', 'gpt-99-turbo', 'gpt-4-turbo']) {
    const { status, json } = await askChat(baseUrl, secret, sound(name))
    assert.equal(status, 404, name)
    if (name === 'gpt-5.4x') assert.match(json.error.message, /gpt-5\.4,/)
  }
  const found = (event: string) => lines.find((line) => line.includes(event)) ?? ''
  assert.match(found('models_without_price'), /gpt-99-turbo/)
  // A model of the configuration is only reported: an operator, and no list, takes it away.
  assert.match(found('models_not_listed'), /"o3"/)
  assert.equal((await askChat(baseUrl, secret, sound('o3', { max_tokens: 500 }))).status, 200)
})

test('a key of certain models is told of these only', async () => {
  const { secret: own } = await seedCustomer(database.db, {
    balanceBrl: '10',
    modelIds: ['gpt-4o', 'o3'],
  })
  const { status, json } = await askChat(baseUrl, own, sound('gpt-5.5'))
  assert.equal(status, 404)
  assert.doesNotMatch(json.error.message, /gpt-5\.4/)
  assert.equal((await askChat(baseUrl, own, sound('gpt-5.4'))).status, 403)
})

test('an operator marks up and prices a discovered model as any other', async () => {
  await untilListed('gpt-5.4', true)
  const run = (...args: string[]) => runCli(args, environment)
  const priced = ['--input', '5', '--output', '30', '--note', 'dobro', '--confirm']
  const { code, stderr } = await run('prices', 'set', 'gpt-5.4', ...priced)
  assert.equal(code, 0, stderr)
  assert.match((await run('model', 'list')).stdout, /gpt-5\.4 /)
  const body = sound('gpt-5.4', { max_tokens: 500 })
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    const { text } = await askChat(baseUrl, secret, body)
    if (/"cost_billed_brl":0\.125\b/.test(text)) break
    assert.ok(Date.now() < deadline, text)
  }
})

test('the day on which a model ends is shown, and ends no call', async () => {
  await untilListed('gpt-5.4', true)
  const entry = async (id: string) => (await ask(baseUrl, `/models/${id}`, { secret })).json
  const page = async (id: string) =>
    await (await fetch(`${new URL(baseUrl).origin}/modelos/${id}?publica=1`)).text()
  shutdowns = { 'gpt-5.4': '2090-02-03', 'gpt-4o': '2090-02-03', 'gpt-4.1': 'soon' }
  await readAgain([...listed, 'gpt-4.1'])
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    if ((await entry('gpt-5.4')).ends_on === '2090-02-03') break
    assert.ok(Date.now() < deadline)
  }
  assert.match(await page('gpt-5.4'), /Sai do ar em 3 de fevereiro de 2090\./)
  assert.equal((await entry('gpt-4.1')).ends_on, '2027-01-14')
  assert.equal((await entry('gpt-5.2')).ends_on, null)
  // The operator knows better than the list.
  const { ends_on, replaced_by } = await entry('gpt-4o')
  assert.deepEqual([ends_on, replaced_by], [YESTERDAY, 'gpt-6-luna'])
  assert.match(
    (await page('gpt-4o')).replaceAll(/\s+/g, ' '),
    /O fabricante encerrou este modelo em .* Substituto: <a href="\/modelos\/gpt-6-luna">GPT-6 Luna<\/a>/,
  )
  const { status } = await askChat(baseUrl, secret, sound('gpt-4o', { max_tokens: 500 }))
  assert.equal(status, 200)
  shutdowns = {}
})

test('a new model appears without a restart, and one that is retired goes', async () => {
  await untilListed('gpt-5.4', true)
  await readAgain(['gpt-4o', 'gpt-5.4-mini'])
  await untilListed('gpt-5.4-mini', true)
  await untilListed('gpt-5.4', false)
  assert.equal((await askChat(baseUrl, secret, sound('gpt-5.4'))).status, 404)
  const { status } = await askChat(baseUrl, secret, sound('gpt-5.4-mini', { max_tokens: 500 }))
  assert.equal(status, 200)
  // No answer, an answer that is no list, or an empty one takes nothing away.
  listStatus = 500
  await readAgain(['gpt-4o'])
  listStatus = 200
  await readAgain([])
  assert.equal(lines.filter((line) => line.includes('upstream_list_unread')).length, 2)
  await sleep(100)
  await untilListed('gpt-5.4-mini', true)
  await assertAudit(database)
})
