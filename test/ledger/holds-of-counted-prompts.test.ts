// deep: an attack
/** Holds whose prompt was counted with a tokenizer because the balance is short. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import type { Model } from '../../src/money/catalog/model.ts'
import type { ActiveKey } from '../../src/customers/key-cache.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { boundChat } from '../../src/gateway/calls/chat/bound-chat.ts'
import { readChatRequest, type ChatRequest } from '../../src/gateway/calls/chat/chat-request.ts'
import type { GatewayParts } from '../../src/gateway/calls/gateway-parts.ts'
import { holdMoney } from '../../src/gateway/calls/hold-money.ts'
import { createLimitsView } from '../../src/gateway/calls/limits.ts'
import { reconcile } from '../../src/gateway/calls/reconcile.ts'
import { createRunningCalls } from '../../src/gateway/calls/running-calls.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import {
  heldLease,
  openTestLedger,
  testModel,
  type TestLedger,
} from '../harness/open-test-ledger.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const INPUT_PRICE = 1_000_000n

let database: TestDatabase
let dead: TestLedger
let alive: TestLedger

before(async () => {
  database = await createTestDatabase()
  dead = await openTestLedger(database.db, database.databaseUrl)
  alive = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await dead.ledger.close()
  await alive.ledger.close()
  await database.drop()
})

async function countedModel(): Promise<Model> {
  const [model] = await registerPrices(database.db, [
    {
      ...testModel,
      id: 'counted-model',
      price: {
        tiers: [
          {
            abovePromptTokens: 0,
            input: INPUT_PRICE,
            cachedInput: INPUT_PRICE,
            cacheWrite: INPUT_PRICE,
            output: INPUT_PRICE,
            reasoning: INPUT_PRICE,
          },
        ],
      },
      tokenizer: 'o200k_base',
    },
  ])
  return model as Model
}

test('the charge for a stream of a dead node is never above its hold, also where a tokenizer counted the prompt', async () => {
  const model = await countedModel()
  const fxRate = await storeFxRate(database.db, {
    rateE4: 50_000n,
    rateDate: '2026-11-20',
    bulletinAt: null,
    source: 'sandbox',
  })
  // 40,000 bytes: 10,000 tokens by their bytes, and less than a thousand by the tokenizer.
  const body = {
    model: model.id,
    messages: [{ role: 'user', content: `Olá.${' '.repeat(40_000)}` }],
    max_tokens: 100,
    stream: true,
  }
  const text = JSON.stringify(body)
  const request = readChatRequest(JSON.parse(text), Buffer.byteLength(text)) as ChatRequest
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '0.02' })
  const provider = createOpenAiCompatible({
    baseUrl: 'http://127.0.0.1:9/v1',
    cancelStopsBilling: true,
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 1_000,
    firstByteTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    connectionsMax: 1,
  } as never)
  const bounds = await boundChat(
    { ...model, routes: [{ upstreamId: 'test', upstreamModel: model.id } as never] },
    request,
    new Map([['test', provider]]),
  )
  const held = await holdMoney(
    {
      fxRate: { current: () => fxRate },
      ledger: dead.ledger,
      lease: heldLease(dead.nodeId),
      limits: createLimitsView(),
      config: { requestsPerMinutePerIp: 1_000_000 },
      observer: { begin: () => undefined },
    } as unknown as GatewayParts,
    { ip: '203.0.113.9', requestId: createId() } as never,
    {
      kind: 'admitted',
      isTimed: false,
      key: key as unknown as ActiveKey,
      request,
      maxCostNanoBrl: undefined,
      cache: undefined,
      models: [model],
      pricesUntilMs: Infinity,
      conversationOf: () => undefined,
    },
    model,
    bounds,
    false,
  )
  assert.ok(!('refused' in held), 'the hold is refused')
  await dead.ledger.checkpoint([{ id: held.holdId, customerId, outputTokensSeen: 1 }])
  await sql`update nodes set fenced_at = now() where id = ${dead.nodeId}`.execute(database.db)
  const lease = {
    ...heldLease(alive.nodeId),
    contactMs: () => 60_000,
    sinceContactMs: () => 0,
    stop: async () => {},
  }
  await reconcile({
    db: database.db,
    ledger: alive.ledger,
    lease,
    calls: createRunningCalls(),
    log: createLog('silent', () => {}),
  })
  const event = await database.db
    .selectFrom('usage_events')
    .select(['held_nano_brl', 'cost_billed_nano_brl', 'prompt_tokens'])
    .where('id', '=', held.holdId)
    .executeTakeFirstOrThrow()
  await provider.close()
  assert.ok(
    event.cost_billed_nano_brl <= event.held_nano_brl,
    `${event.cost_billed_nano_brl} charged, ${event.held_nano_brl} held`,
  )
})
