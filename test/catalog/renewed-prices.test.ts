/** A live server, and a server that publishes price data: its news are sold without a restart, and never at another price than is shown. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig, type Config } from '../../src/app/config/config.ts'
import { createApp, type App } from '../../src/app/create-app.ts'
import { openPricing, type Pricing } from '../../src/app/open-pricing.ts'
import { comparePrices } from '../../src/app/workers/compare-prices.ts'
import { readUpstreamLists } from '../../src/app/workers/read-upstream-lists.ts'
import { priceWatchOf, renewPrices } from '../../src/app/workers/renew-prices.ts'
import type { PriceRule } from '../../src/money/catalog/price-updates.ts'
import { packagedData } from '../../src/money/catalog/published-prices.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { dayInBrasilia } from '../../src/platform/lib/days.ts'
import { createProcessLog, type Log } from '../../src/platform/lib/log.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { findFreePort } from '../harness/find-free-port.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { nodeEnvironment } from '../harness/node-environment.ts'
import { runCli } from '../harness/run-cli.ts'
import { nothingAdded } from '../harness/nothing-added.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const NEW = 'gpt-99-turbo'
const USAGE = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }

/** What is published beside the models of the package, which names of these are listed, and the answers that wait. */
let published: object[] = []
let listed = ['gpt-4o', NEW, `${NEW}-2027-01-31`]
/** The second list, in OpenRouter's form: USD per million tokens; undefined: an error. */
let second: Record<string, readonly [number, number]> | undefined = {}
/** Beside the prices of the second list. */
let padding = ''
let secondFetches = 0
let fetches = 0
let isHeld = false
const held: (() => void)[] = []

const machine = createServer((request, response) => {
  const { url = '' } = request
  if (url === '/data.json') fetches++
  if (url === '/data.json') return send(response, dataWith(published))
  if (url === '/second.json') secondFetches++
  if (url === '/second.json')
    return second ? send(response, routerList(second)) : response.writeHead(500).end()
  if (url === '/v1/models') return send(response, { data: listed.map((id) => ({ id })) })
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    const { model } = JSON.parse(text)
    const message = { role: 'assistant', content: 'Olá.' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const answer = { id: 'c1', object: 'chat.completion', created: 1, model, choices, usage: USAGE }
    const finish = (): void => send(response, answer)
    if (isHeld) held.push(finish)
    else finish()
  })
})

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function routerList(models: Record<string, readonly [number, number]>): unknown {
  const text = (usd: number): string => (usd / 1e6).toFixed(10)
  return {
    data: Object.entries(models).map(([id, [input, output]]) => ({
      id: `openai/${id}`,
      pricing: { prompt: text(input), completion: text(output), web_search: '0.01' },
    })),
    padding,
  }
}

function dataWith(models: object[]): unknown {
  return packagedData().map((each) =>
    each.id === 'openai' ? { ...each, models: [...each.models, ...models] } : each,
  )
}

function entry(id: string, input: number, output: number): object {
  const prices = { input_mtok: input, output_mtok: output }
  return { id, match: { or: [{ starts_with: id }] }, context_window: 400_000, prices }
}

let database: TestDatabase
let file: ConfigFile
let dataDir: string
let app: App
let config: Config
let pricing: Pricing
let environment: Record<string, string>
const lines: string[] = []
let log: Log
let baseUrl: string
let secret: string

before(async () => {
  machine.listen(0, '127.0.0.1')
  await once(machine, 'listening')
  const address = `http://127.0.0.1:${(machine.address() as AddressInfo).port}`
  const upstreams = [{ id: 'openai', kind: 'openai', base_url: `${address}/v1` }]
  file = await writeConfigFile({ upstreams })
  database = await createTestDatabase()
  const { db, databaseUrl } = database
  const rate = { rateE4: 50_000n, rateDate: dayInBrasilia(new Date()), bulletinAt: null }
  await storeFxRate(db, { ...rate, source: 'bcb' })
  dataDir = await mkdtemp(join(tmpdir(), 'catraca-renewed-'))
  const env = { ...LIVE_ENVIRONMENT, CATRACA_CONFIG: file.path, OPENAI_API_KEY: 'sk-own' }
  const port = await findFreePort()
  environment = nodeEnvironment({ databaseUrl, dataDir, port, env })
  const own = loadConfig(environment, dataDir)
  log = createProcessLog('info', (line) => lines.push(line))
  app = await createApp(own, databaseUrl, log)
  baseUrl = `${await app.listen()}/v1`
  // The job is that of another node.
  config = { ...own, priceDataUrl: `${address}/data.json`, webhooksAllowPrivate: true }
  pricing = await openPricing(db, config, log, nothingAdded(config))
  ;({ secret } = await seedCustomer(db, { balanceBrl: '100' }))
})

after(async () => {
  await app?.close({ delayMs: 0, withinMs: 1_000, idleMs: 0 })
  machine.closeAllConnections()
  machine.close()
  await file.remove()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** The daily job. */
async function renew(models: object[], rule: Partial<PriceRule> = {}, more: Partial<Config> = {}) {
  published = models
  const priceUpdates = { ...config.priceUpdates, ...rule }
  const parts = { ...pricing, db: database.db, config: { ...config, priceUpdates, ...more }, log }
  await renewPrices(parts)
  await comparePrices({ ...parts, watch: priceWatchOf(parts) })
}

async function untilListed(id: string): Promise<void> {
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    const { json } = await ask(baseUrl, '/models', { secret })
    if (json.data.some((model: { id: string }) => model.id === id)) return
    assert.ok(Date.now() < deadline, `${id} is not in the catalog`)
  }
}

async function chargeOf(model: string): Promise<unknown> {
  const { status, text } = await askChat(baseUrl, secret, sound(model, { max_tokens: 500 }))
  assert.equal(status, 200, text)
  return Number(/"cost_billed_brl":([\d.]+)/.exec(text)?.[1])
}

async function untilCharged(model: string, brl: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; (await chargeOf(model)) !== brl; await sleep(20))
    assert.ok(Date.now() < deadline, `${model} does not cost ${brl}`)
}

const linesOf = (event: string): string[] => lines.filter((line) => line.includes(`"${event}"`))

test('what nobody can price is refused and reported until the data prices it, and then answers without a restart', async () => {
  for (const deadline = Date.now() + 20_000; linesOf('models_without_price').length === 0;)
    await sleep(20).then(() => assert.ok(Date.now() < deadline))
  assert.match(linesOf('models_without_price').join(), new RegExp(NEW))
  assert.equal((await askChat(baseUrl, secret, sound(NEW))).status, 404)
  await renew([entry(NEW, 2, 16)])
  await untilListed(NEW)
  // USD 2 and 16 per million: 1,000 and 500 tokens cost USD 0.01, at 5.0 and 1.25.
  for (const name of [NEW, `${NEW}-2027-01-31`, `openai/${NEW}`])
    assert.equal(await chargeOf(name), 0.0625, name)
  assert.equal((await askChat(baseUrl, secret, sound(`${NEW}-pro`))).status, 404)
})

test('a dearer price waits while the shown one is charged; a cheaper one is charged, but not of a call that runs', async () => {
  await renew([entry(NEW, 2.2, 16)])
  const { stdout } = await runCli(['prices', 'pending'], environment)
  assert.match(stdout, /gpt-99-turbo +dearer +\S+ +input 2 -> 2\.2/)
  assert.equal(await chargeOf(NEW), 0.0625)
  isHeld = true
  const running = chargeOf(NEW)
  while (held.length === 0) await sleep(10)
  isHeld = false
  await renew([entry(NEW, 1, 8)])
  await untilCharged(NEW, 0.03125)
  for (const finish of held.splice(0)) finish()
  assert.equal(await running, 0.0625)
  assert.match((await runCli(['prices', 'check'], environment)).stdout, /gpt-99-turbo: .*1 -> 2/)
})

test('data with a slip or from a private address is refused, alarms, and changes nothing', async () => {
  const read = () => database.db.selectFrom('price_data').selectAll().execute()
  const stored = await read()
  for (const models of [
    [entry(NEW, 0, 0)],
    [entry(NEW, 20, 160)],
    [entry(NEW, 1, 8), { ...entry('gpt-98', 1, 1), currency: 'BRL' }],
    [entry(NEW, 1, 8), entry(NEW, 1, 8)],
  ])
    await renew(models)
  assert.equal(linesOf('price_data_refused').length, 4)
  const asked = fetches
  await renew([entry(NEW, 0.9, 8)], {}, { webhooksAllowPrivate: false })
  assert.equal(fetches, asked)
  assert.equal(linesOf('price_data_unread').length, 1)
  assert.deepEqual(await read(), stored)
  assert.equal(await chargeOf(NEW), 0.03125)
})

test('an invented price is sold of no model: below half of its first one, or below every one of its provider', async () => {
  listed = ['gpt-4o', NEW, 'gpt-96']
  await readUpstreamLists({ ...pricing, db: database.db, config, log })
  const at = (input: number) => ({ input_mtok: input, output_mtok: 8 })
  const later = { constraint: { start_date: '2099-01-01' }, prices: at(0.01) }
  const invented = { ...entry('gpt-96', 1, 8), prices: [{ prices: at(1) }, later] }
  await renew([entry(NEW, 0.5, 4), invented])
  const { stdout } = await runCli(['prices', 'pending'], environment)
  assert.match(stdout, /gpt-99-turbo +cheaper/)
  assert.match(stdout, /gpt-96 +new .*; from 2099-01-01T00:00:00\.000Z: input none -> 0\.01/)
  assert.equal(await chargeOf(NEW), 0.03125)
  assert.equal((await askChat(baseUrl, secret, sound('gpt-96'))).status, 404)
  assert.equal((await runCli(['prices', 'approve', 'gpt-96'], environment)).code, 0)
  await untilListed('gpt-96')
})

test('a new model waits for one answer where the operator says so, and is hidden where that is said', async () => {
  listed = ['gpt-4o', NEW, 'gpt-98', 'gpt-97']
  await readUpstreamLists({ ...pricing, db: database.db, config, log })
  const known = [entry(NEW, 1, 8), entry('gpt-98', 1, 8), entry('gpt-97', 1, 8)]
  await renew(known, { new: 'hide' })
  const pending = async () =>
    JSON.parse((await runCli(['prices', 'pending', '--json'], environment)).stdout)
  assert.deepEqual(await pending(), [])
  await renew(known, { new: 'ask' })
  assert.deepEqual(
    (await pending()).map((each: { model: string; kind: string }) => [each.model, each.kind]),
    [
      ['gpt-97', 'new'],
      ['gpt-98', 'new'],
    ],
  )
  const rejected = await runCli(['prices', 'reject', 'gpt-97'], environment)
  assert.equal(rejected.code, 0, rejected.stderr)
  const approved = await runCli(['prices', 'approve', 'gpt-98'], environment)
  assert.equal(approved.stdout, 'approved: gpt-98\n', approved.stderr)
  await untilListed('gpt-98')
  assert.equal(await chargeOf('gpt-98'), 0.03125)
  assert.equal((await askChat(baseUrl, secret, sound('gpt-97'))).status, 404)
  await renew(known, { new: 'ask' })
  assert.deepEqual(await pending(), [])
  assert.equal((await runCli(['prices', 'approve', 'gpt-97'], environment)).code, 2)
  await assertAudit(database)
})

test('what a second list disputes waits, and is taken once both agree; it sets no price, and none is lost without it', async () => {
  const { secondPriceListUrl, ...rest } = config
  assert.equal(secondPriceListUrl, undefined)
  const url = config.priceDataUrl?.replace('data.json', 'second.json')
  const withSecond = { ...rest, secondPriceListUrl: url }
  const pending = async (): Promise<string> => {
    const { stdout } = await runCli(['prices', 'pending'], environment)
    return stdout.replaceAll(/ +/g, ' ')
  }
  listed = ['gpt-4o', 'gpt-95', 'gpt-94']
  await readUpstreamLists({ ...pricing, db: database.db, config, log })
  // A new model of which the lists disagree is not sold; one that only the first has is.
  second = { 'gpt-95': [2, 16] }
  await renew([entry('gpt-95', 1, 8), entry('gpt-94', 1, 8)], {}, withSecond)
  await untilListed('gpt-94')
  assert.equal((await askChat(baseUrl, secret, sound('gpt-95'))).status, 404)
  assert.match(await pending(), /gpt-95 new .* second list says input 2, output 16\n/)
  second = { 'gpt-95': [1.005, 8] }
  await renew([entry('gpt-95', 1, 8), entry('gpt-94', 1, 8)], {}, withSecond)
  await untilListed('gpt-95')
  assert.doesNotMatch(await pending(), /gpt-9[45]/)
  // A cheaper price is the operator's loss if it is wrong.
  const cheaper = [entry('gpt-95', 0.9, 8), entry('gpt-94', 0.9, 8)]
  await renew(cheaper, {}, withSecond)
  await untilCharged('gpt-94', 0.030625)
  assert.equal(await chargeOf('gpt-95'), 0.03125)
  assert.match(await pending(), /gpt-95 cheaper .*0\.9; second list says input 1\.005, output 8\n/)
  // An error, a body without end, a foreign form and a private address are reported, and change nothing of what it said
  // last; the first list is taken all the same.
  const refused = linesOf('price_data_refused').length
  const unread = linesOf('price_data_unread').length
  second = undefined
  const both = [entry('gpt-95', 0.9, 8), entry('gpt-94', 0.8, 8)]
  await renew(both, {}, withSecond)
  await untilCharged('gpt-94', 0.03)
  second = { 'gpt-95': [0.9, 8] }
  padding = 'x'.repeat(4 * 1024 * 1024)
  await renew(both, {}, withSecond)
  padding = ''
  const asked = secondFetches
  await renew(both, {}, { ...withSecond, webhooksAllowPrivate: false })
  assert.equal(secondFetches, asked)
  assert.equal(linesOf('price_data_unread').length, unread + 4)
  second = {}
  await renew(both, {}, withSecond)
  assert.equal(linesOf('price_data_refused').length, refused + 1)
  assert.match(await pending(), /gpt-95 cheaper .*; second list says input 1\.005/)
  assert.equal(await chargeOf('gpt-95'), 0.03125)
  second = { 'gpt-95': [0.9, 8] }
  await renew(both, {}, withSecond)
  await untilCharged('gpt-95', 0.030625)
  // A price in use that both had, and of which the second says something else now: shown, and never taken.
  second = { 'gpt-95': [3, 24] }
  await renew(both, { dearer: 'take' }, withSecond)
  assert.match(
    await pending(),
    /gpt-95 disputed .* input 0\.9, output 8; second list says input 3, output 24\n/,
  )
  assert.equal((await runCli(['prices', 'approve', 'gpt-95'], environment)).code, 2)
  assert.equal((await runCli(['prices', 'reject', 'gpt-95'], environment)).code, 0)
  await renew(both, { dearer: 'take' }, withSecond)
  assert.doesNotMatch(await pending(), /gpt-95/)
  assert.equal(await chargeOf('gpt-95'), 0.030625)
  // What an operator approved is not disputed.
  const approved = [entry('gpt-95', 0.8, 8), entry('gpt-94', 0.8, 8)]
  await renew(approved, {}, withSecond)
  assert.equal((await runCli(['prices', 'approve', 'gpt-95'], environment)).code, 0)
  await untilCharged('gpt-95', 0.03)
  await renew(approved, {}, withSecond)
  assert.doesNotMatch(await pending(), /gpt-95/)
  // Without the setting, what it said last is forgotten.
  await renew([entry('gpt-95', 0.7, 8), entry('gpt-94', 0.8, 8)])
  await untilCharged('gpt-95', 0.029375)
  await assertAudit(database)
})
