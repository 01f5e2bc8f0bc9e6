// deep: two nodes while prices change
/** Prices that an operator sets while two nodes run: both charge them without a restart, a call in progress keeps its own. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtInModels } from '../../src/money/catalog/built-in-models.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { runCli, TARGET_LINE } from '../harness/run-cli.ts'
import {
  createGate,
  GOOD_USAGE,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'

const MODEL = 'm'
/** Its route has a price of its own. */
const OWN = 'own'
const WAITS_MS_MAX = 30_000

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway
let second: LocalNode
let folder: string

before(async () => {
  upstream = await startScriptedUpstream()
  const entry = { category: 'llm', prices: { input: '1', output: '2' } } as const
  configFile = await writeConfigFile({
    upstreams: [{ id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      { ...entry, id: MODEL, routes: [{ upstream: 'up', model: MODEL }] },
      {
        ...entry,
        id: OWN,
        routes: [{ upstream: 'up', model: OWN, prices: { input: '5', output: '5' } }],
      },
    ],
  })
  const env = { CATRACA_CONFIG: configFile.path }
  gateway = await startGateway(env)
  second = await startLocalNode({ databaseUrl: gateway.database.databaseUrl, env })
  folder = await mkdtemp(join(tmpdir(), 'catraca-prices-'))
})
after(async () => {
  await second?.stop()
  await second?.remove()
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
  await rm(folder, { recursive: true, force: true })
})

async function catraca(...args: string[]) {
  const ran = await runCli(['prices', ...args], {
    DATABASE_URL: gateway.database.databaseUrl,
    DATA_DIR: folder,
    CATRACA_CONFIG: configFile.path,
  })
  return { ...ran, stderr: ran.stderr.replace(TARGET_LINE, '') }
}

async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await catraca(...args, '--json')
  assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  return JSON.parse(stdout)
}

async function refused(message: RegExp, ...args: string[]): Promise<void> {
  const before = await countRows()
  const { code, stderr } = await catraca(...args)
  assert.equal(code, 2, args.join(' '))
  assert.match(stderr, message)
  assert.deepEqual(await countRows(), before)
}

async function countRows(): Promise<unknown[]> {
  const { db } = gateway.database
  const count = (table: 'price_changes' | 'audit_log') =>
    db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll().as('rows'))
      .executeTakeFirstOrThrow()
  return [await count('price_changes'), await count('audit_log')]
}

/** The upstream's cost of the call, in pico-USD. */
async function costOfCall({ requestId }: Asked): Promise<bigint> {
  await untilNoHoldIsOpen(gateway.database)
  const { cost_upstream_pico_usd } = await gateway.database.db
    .selectFrom('usage_events')
    .select('cost_upstream_pico_usd')
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()
  return cost_upstream_pico_usd
}

function call(node: LocalNode, model = MODEL): Promise<Asked> {
  return askChat(node.baseUrl, gateway.secret, sound(model))
}

function cost(input: number, output: number): bigint {
  return BigInt((GOOD_USAGE.prompt_tokens * input + GOOD_USAGE.completion_tokens * output) * 1e6)
}

async function shownInput(node: LocalNode, model = MODEL): Promise<number> {
  const { prices } = (await ask(node.baseUrl, '/model-prices')).json
  const price = prices.find(({ model_id }: { model_id: string }) => model_id === model)
  return price.tiers[0].input_brl / 5.2 / 1.25
}

/** Nodes hear of a change at once, but not before the command ends. */
async function untilBothShow(input: number): Promise<void> {
  const until = Date.now() + WAITS_MS_MAX
  for (const node of [gateway.node, second])
    while (Math.abs((await shownInput(node)) - input) > 1e-9) {
      assert.ok(Date.now() < until, `a node does not show ${input}`)
      await sleep(20)
    }
}

test('a price that is set while nodes run is charged by all of them, and a call in progress settles at the price of its hold', async () => {
  assert.equal(await costOfCall(await call(gateway.node)), cost(1, 2))
  const gate = createGate()
  upstream.play(MODEL, gate.behaviour)
  const running = call(gateway.node)
  while (gate.waitedMax === 0) await sleep(10)
  const [set] = await json('set', MODEL, '--input', '2', '--output', '4', '--note', 'x')
  assert.match(set.amounts, /^input 1 -> 2, .*output 2 -> 4/)
  await untilBothShow(2)
  gate.open()
  assert.equal(await costOfCall(await running), cost(1, 2))
  for (const node of [gateway.node, second])
    assert.equal(await costOfCall(await call(node)), cost(2, 4))
  await json('withdraw', String(set.id), '--note', 'engano')
  await untilBothShow(1)
  for (const node of [gateway.node, second])
    assert.equal(await costOfCall(await call(node)), cost(1, 2))
  await refused(/no change in use/, 'withdraw', String(set.id), '--note', 'x')
  await assertAudit(gateway.database)
})

test('a price with a start is charged from then on, and not before', async () => {
  const startsAt = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 16)}Z`
  const [set] = await json('set', MODEL, '--input', '2', '--output', '2', '--starts-at', startsAt)
  assert.equal(Date.parse(set.starts_at), Date.parse(startsAt))
  const [shown] = await json('show', MODEL)
  assert.deepEqual(
    [shown.input_usd, Date.parse(shown.next_change_at), shown.changes[0].id],
    ['1', Date.parse(startsAt), set.id],
  )
  assert.equal(await costOfCall(await call(gateway.node)), cost(1, 2))
  await json('withdraw', String(set.id))
})

test('a route with a price of its own in the configuration keeps it', async () => {
  const [set] = await json('set', OWN, '--input', '2', '--output', '2')
  assert.equal(await costOfCall(await call(gateway.node, OWN)), cost(5, 5))
  await json('withdraw', String(set.id))
})

test('a slip, a wrong word or a time in the past is refused and changes nothing', async () => {
  const set = (...args: string[]) => ['set', MODEL, ...args]
  await refused(/more than twice .* --confirm/s, ...set('--input', '10', '--output', '2'))
  await refused(/more than twice .* --confirm/s, ...set('--input', '0.1', '--output', '2'))
  await refused(/more than twice .* --confirm/s, ...set('--input', '0', '--output', '2'))
  await refused(/it reads "input" and writes "output"/, ...set('--input', '1'))
  await refused(/--input: must be USD/, ...set('--input', '1,5', '--output', '2'))
  await refused(
    /is in the past/,
    ...set('--input', '1', '--output', '3', '--starts-at', '2026-01-01T00:00Z'),
  )
  await refused(
    /--starts-at: is after/,
    ...set('--input', '1', '--output', '3', '--starts-at', '2130-01-01T00:00Z'),
  )
  await refused(
    /--starts-at: must be a time/,
    ...set('--input', '1', '--output', '3', '--starts-at', 'amanhã'),
  )
  await refused(/no model nope/, 'set', 'nope', '--input', '1', '--output', '2')
  await refused(/same units/, 'set', 'gpt-image-1', '--input', '1', '--output', '2', '--confirm')
  await refused(/needs a model/, 'set')
  const rows = await countRows()
  const dry = await catraca(...set('--input', '1.5', '--output', '2', '--dry-run'))
  assert.match(dry.stdout, /^nothing is stored; it would set:\nm: input 1 -> 1\.5/)
  assert.match((await catraca(...set('--input', '1', '--output', '2'))).stdout, /in force already/)
  assert.deepEqual(await countRows(), rows)
})

test('a file sets prices by time of day, and a newer release of the price data all that differ from it', async () => {
  const own = join(folder, 'own.json')
  const prices = { input: '1', output: '2' }
  const night = { from: '22:00', until: '05:00', prices: { input: '0.5', output: '1' } }
  await writeFile(own, JSON.stringify({ models: [{ id: MODEL, prices, price_schedule: [night] }] }))
  const [set] = await json('set', '--file', own)
  assert.match(set.amounts, /at some hours: input 1 -> 0\.5/)
  await json('withdraw', String(set.id))
  await writeFile(own, JSON.stringify({ models: [{ id: MODEL, prices, enabled: false }] }))
  await refused(/a price file has no enabled/, 'set', '--file', own)
  await writeFile(own, '{"models": [')
  await refused(/JSON/, 'set', '--file', own)
  await refused(/ENOENT/, 'set', '--file', join(folder, 'none.json'))

  const newer = join(folder, 'data.json')
  await writeFile(newer, JSON.stringify(dataWith('gpt-4o-mini', 0.2)))
  assert.match((await catraca('check')).stdout, /^all prices are those of the price data/)
  const checked = await catraca('check', '--file', newer)
  assert.equal(checked.code, 1)
  assert.match(checked.stdout, /^gpt-4o-mini: input 0\.15 -> 0\.2/m)
  const effects = await json('set', 'gpt-4o-mini', '--file', newer, '--confirm')
  assert.deepEqual(
    effects.map(({ model }: { model: string }) => model),
    ['gpt-4o-mini'],
  )
  assert.doesNotMatch((await catraca('check', '--file', newer)).stdout, /^gpt-4o-mini:/m)
  assert.match((await catraca('check')).stdout, /^gpt-4o-mini: input 0\.2 -> 0\.15/m)
})

/** The price data with one model only. */
function dataWith(id: string, input: number): object {
  const { priceFrom = assert.fail(id) } = builtInModels.find((each) => each.id === id) ?? {}
  const prices = { input_mtok: input, cache_read_mtok: 0.075, output_mtok: 0.6 }
  return [{ id: priceFrom.provider, models: [{ id: priceFrom.model, prices }] }]
}
