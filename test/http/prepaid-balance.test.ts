// deep: starts processes
/** The promise: whatever the concurrency and however many nodes, what is served is paid for. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { effort } from '../harness/effort.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { ask, askChat, billedIn, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'

const REQUESTS = 500
const PAID_FOR = 100
const NODES = 3

let database: TestDatabase
let sandbox: SandboxUpstream
let nodes: TestNode[] = []
let folder: string

before(async () => {
  database = await createTestDatabase()
  sandbox = await startSandboxUpstream()
  folder = await mkdtemp(join(tmpdir(), 'catraca-balance-'))
  const CATRACA_CONFIG = join(folder, 'catraca.config.json')
  await writeFile(CATRACA_CONFIG, JSON.stringify(catalogConfig()))
  nodes = await Promise.all(
    Array.from({ length: NODES }, () =>
      startTestNode({ databaseUrl: database.databaseUrl, env: { CATRACA_CONFIG } }),
    ),
  )
})

after(async () => {
  await Promise.all(nodes.map((node) => node.stop().then(() => node.remove())))
  await sandbox.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** `exact` costs what it holds: its prompt is free and its answer fills `max_tokens`. */
function catalogConfig(): unknown {
  const model = (id: string, input: number): unknown => ({
    id,
    category: 'llm',
    prices: { input, output: 100 },
    markup_multiplier: '1.3',
    routes: [{ upstream: 'counted', model: 'sandbox-chat' }],
    context_tokens: 128_000,
    max_output_tokens: 4_096,
  })
  return {
    upstreams: [
      {
        id: 'counted',
        kind: 'openai-compatible',
        base_url: sandbox.baseUrl,
        cancel_stops_billing: true,
      },
    ],
    models: [model('exact', 0), model('usual', 5)],
  }
}

const MAX_TOKENS = 5
/** 5 tokens of USD 100 for a million, at 5.2, times 1.3. */
const COST_BRL = '0.00338'

/** All at once, spread over these nodes, every second one streamed. */
function askAtOnce(model: string, secret: string, nodeCount: number): Promise<Asked[]> {
  return Promise.all(
    Array.from({ length: REQUESTS }, (_, index) =>
      askChat(
        (nodes[index % nodeCount] as TestNode).baseUrl,
        secret,
        sound(model, {
          max_tokens: MAX_TOKENS,
          ...(index % 2 === 0 ? {} : { stream: true, stream_options: { include_usage: true } }),
        }),
      ),
    ),
  )
}

function assertRefusedForBalance(answers: readonly Asked[]): void {
  for (const answer of answers) {
    if (answer.status === 200) continue
    // While others run, trying again may help.
    const { type } = answer.json.error
    assertRefusal(answer, type === 'balance_on_hold' ? 429 : 402, type)
  }
}

for (const nodeCount of [1, NODES]) {
  test(`${REQUESTS} requests at once on a balance worth ${PAID_FOR}, over ${nodeCount} node(s): ${PAID_FOR} are served, the rest are refused, the balance is 0`, async () => {
    const balance = (parseBrl(COST_BRL) as bigint) * BigInt(PAID_FOR)
    const { secret, customerId } = await seedCustomer(database.db, {
      balanceBrl: decimalBrl(balance),
    })
    const completedBefore = sandbox.counts.completed
    const answers = await askAtOnce('exact', secret, nodeCount)
    const served = answers.filter(({ status }) => status === 200)
    assert.equal(served.length, PAID_FOR)
    assert.ok(served.every(({ text }) => billedIn(text) === COST_BRL))
    assertRefusedForBalance(answers)
    assert.equal(sandbox.counts.completed - completedBefore, PAID_FOR, 'no other went upstream')
    await untilNoHoldIsOpen(database)
    assert.equal((await findAccount(database.db, customerId))?.balanceNanoBrl, 0n)
    await assertAudit(database)
  })

  test(`${REQUESTS} requests at once that hold more than they cost, over ${nodeCount} node(s): the balance pays for each that is served, to the digit`, async () => {
    const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '0.5' })
    const answers = await askAtOnce('usual', secret, nodeCount)
    assertRefusedForBalance(answers)
    const served = answers.filter(({ status }) => status === 200)
    assert.ok(served.length > 0 && served.length < REQUESTS)
    await untilNoHoldIsOpen(database)
    const sum = served.reduce(
      (sum, { text }) => sum + (parseBrl(billedIn(text) ?? '') as bigint),
      0n,
    )
    const account = await findAccount(database.db, customerId)
    assert.equal(account?.balanceNanoBrl, (parseBrl('0.5') as bigint) - sum)
    assert.ok(account.balanceNanoBrl >= 0n)
    await assertAudit(database)
  })
}

/** In the format of each endpoint; a stream where there is one. */
const ENDPOINTS: Record<string, (isStream: boolean) => object> = {
  '/chat/completions': (stream) => sound('exact', { max_tokens: MAX_TOKENS, stream }),
  '/messages': (stream) => sound('exact', { max_tokens: MAX_TOKENS, stream }),
  '/responses': (stream) => ({
    model: 'exact',
    input: 'Olá, catraca!',
    max_output_tokens: MAX_TOKENS,
    stream,
  }),
  '/embeddings': () => ({ model: 'sandbox-embedding', input: 'Olá, catraca! '.repeat(200) }),
  '/images/generations': () => ({
    model: 'sandbox-image',
    prompt: 'uma catraca',
    quality: 'low',
    response_format: 'b64_json',
  }),
}
const CALLS_AT_ONCE = effort({ ordinary: 100, full: 1_000 })

for (const [path, body] of Object.entries(ENDPOINTS))
  test(`complaint 6: many calls at once on a balance for one, over ${NODES} nodes: ${path}`, async () => {
    const askOne = (secret: string, index: number): Promise<Asked> =>
      ask((nodes[index % NODES] as TestNode).baseUrl, path, { secret, body: body(index % 2 === 1) })
    const rich = await seedCustomer(database.db, { balanceBrl: '100' })
    const one = await askOne(rich.secret, 0)
    assert.equal(one.status, 200, one.text)
    const cost = parseBrl(billedIn(one.text) ?? '') as bigint

    const { secret, customerId } = await seedCustomer(database.db, {
      balanceBrl: decimalBrl(path === '/images/generations' ? cost * 20n : cost * 2n - 1n),
      requestsPerMinute: 100_000,
    })
    const before = (await findAccount(database.db, customerId))?.balanceNanoBrl as bigint
    const answers = await Promise.all(
      Array.from({ length: CALLS_AT_ONCE }, (_, index) => askOne(secret, index)),
    )
    await untilNoHoldIsOpen(database)
    const served = answers.filter(({ status }) => status === 200)
    const account = await findAccount(database.db, customerId)
    assert.equal(account?.balanceNanoBrl, before - cost * BigInt(served.length))
    assert.ok(account.balanceNanoBrl >= 0n)
    if (path.startsWith('/images') || path === '/embeddings') assert.ok(served.length < 20)
    else assert.equal(served.length, 1)
    await assertAudit(database)
  })

test(`the requests of a minute are counted exactly over ${NODES} nodes`, async () => {
  const { secret } = await seedCustomer(database.db, { balanceBrl: '100', requestsPerMinute: 120 })
  const answers = await askAtOnce('exact', secret, NODES)
  const servedByMinute = new Map<string, number>()
  for (const { status, headers } of answers) {
    assert.ok(status === 200 || status === 429, `${status}`)
    const minute = headers.get('x-ratelimit-reset') ?? ''
    servedByMinute.set(minute, (servedByMinute.get(minute) ?? 0) + (status === 200 ? 1 : 0))
  }
  const counts = [...servedByMinute.values()]
  // The burst may straddle a full minute: then one of the two has more requests than it may serve.
  assert.ok(counts.length <= 2)
  assert.equal(Math.max(...counts), 120)
})
