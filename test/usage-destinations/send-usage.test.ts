// deep: every failure of a collector
/** Each charge reaches the collector of its customer, whatever happens to either side meanwhile. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { decimalBrl, decimalUsd } from '../../src/platform/lib/money.ts'
import { createResponseStore } from '../../src/customers/stored-responses/response-store.ts'
import { listUsageEvents } from '../../src/money/usage/list-usage-events.ts'
import { FAILING_HOURS_MAX } from '../../src/deliveries/usage-destinations/record-sending.ts'
import {
  askForTest,
  changeDestination,
  deleteDestination,
} from '../../src/deliveries/usage-destinations/usage-destinations.ts'
import { effort } from '../harness/effort.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { startOtlpCollector, type OtlpCollector } from '../harness/otlp-collector.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import {
  createTestExport,
  currentDestination,
  DESTINATION_SETTINGS,
  seedBuyer,
  seedCalls,
  seedDestination,
  sendAll,
  type SeededDestination,
} from '../harness/usage-destinations.ts'

const database = await createTestDatabase()
const { db } = database
const { sealingKey } = DESTINATION_SETTINGS
let collector: OtlpCollector
beforeEach(async () => {
  await sql`truncate usage_destinations`.execute(db)
  collector = await startOtlpCollector()
})
afterEach(() => collector.close())
after(() => database.drop())

/** What the collector has, by the ids of the charges; a repeated span is there once. */
function arrived(of: OtlpCollector = collector): string[] {
  const ids = new Map(of.spans.map((span) => [span.spanId, span.attributes['catraca.event_id']]))
  return [...ids.values()].map(String).toSorted()
}

function idsOf(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id).toSorted()
}

function setUrl({ customerId, destination }: SeededDestination, url: string) {
  return changeDestination(db, SYSTEM, sealingKey, {
    customerId,
    id: destination.id,
    readChange: () => ({ url }),
    fields: ['url'],
  })
}

function setEnabled({ customerId, destination }: SeededDestination, isEnabled: boolean) {
  return changeDestination(db, SYSTEM, sealingKey, {
    customerId,
    id: destination.id,
    readChange: () => ({ isEnabled }),
    fields: ['is_enabled'],
  })
}

test('each charge of its customer is one span, a released hold is none, and nothing goes twice', async () => {
  const mine = await seedDestination(db, collector.url)
  const stranger = await seedBuyer(db)
  const events = await seedCalls(db, mine, 450)
  await seedCalls(db, mine, 3, { outcome: 'released' })
  await seedCalls(db, stranger, 5)
  const sender = createTestExport(db)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), idsOf(events))
  assert.equal(collector.spans.length, 450)
  assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, 450)
  assert.equal(collector.texts.length, 3, 'in batches')
  await sendAll(db, sender)
  assert.equal(collector.spans.length, 450)
  const more = await seedCalls(db, mine, 2)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), idsOf([...events, ...more]))
  const { sent, rejected, givenUp, lastSuccessAt } = await currentDestination(db, mine)
  assert.deepEqual([sent, rejected, givenUp], [452n, 0n, 0n])
  assert.ok(lastSuccessAt)
})

test('an idle destination is looked at less often, up to every five minutes, and one in use every 20 s', async () => {
  const idle = await seedDestination(db, collector.url)
  const inUse = await seedDestination(db, collector.url)
  await sql`update usage_destinations set created_at = now() - interval '2 hours'`.execute(db)
  await seedCalls(db, inUse, 1)
  const sender = createTestExport(db)
  const dueInSeconds = async (of: SeededDestination): Promise<number> =>
    ((await currentDestination(db, of)).dueAt.getTime() - Date.now()) / 1_000
  await sendAll(db, sender)
  assert.ok((await dueInSeconds(inUse)) < 21)
  const pause = await dueInSeconds(idle)
  assert.ok(pause > 200 && pause <= 300, String(pause))
  await seedCalls(db, idle, 1)
  await sendAll(db, sender)
  assert.equal(collector.spans.length, 2)
  assert.ok((await dueInSeconds(idle)) < 21, 'its customer uses it again')
})

test('what was charged before the destination was made is not sent', async () => {
  const buyer = await seedBuyer(db)
  await seedCalls(db, buyer, 3)
  await seedDestination(db, collector.url, buyer)
  const [event] = await seedCalls(db, buyer, 1)
  await sendAll(db, createTestExport(db))
  assert.deepEqual(arrived(), [event?.id])
})

test('a span has the numbers of the usage API, to the digit, and names no upstream', async () => {
  const mine = await seedDestination(db, collector.url)
  // Of two days ago: a call that began more than 40 days before is not sent.
  const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
  await seedCalls(db, mine, 1, {
    promptTokens: 1_234,
    cachedTokens: 1_000,
    completionTokens: 77,
    reasoningTokens: 50,
    sessionId: 'conversa-7',
    costPicoUsd: 123_456_700n,
    at: `${day}T02:59:59.123456Z`,
  })
  await sendAll(db, createTestExport(db))
  const [usage] = await listUsageEvents(db, { customerId: mine.customerId, limit: 1 })
  assert.ok(usage)
  const [span] = collector.spans
  assert.ok(span)
  assert.equal(span.traceId, usage.requestId.replaceAll('-', ''))
  assert.match(span.spanId, /^[0-9a-f]{16}$/)
  assert.equal(span.name, 'chat gpt-4o')
  assert.equal(span.startNanos, `${BigInt(Date.parse(`${day}T02:59:59.123Z`))}456000`)
  assert.equal(BigInt(span.endNanos) - BigInt(span.startNanos), 2_000_000n)
  assert.deepEqual(span.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.model': 'gpt-4o',
    'gen_ai.conversation.id': 'conversa-7',
    'gen_ai.usage.input_tokens': 1_234,
    'gen_ai.usage.output_tokens': 77,
    'gen_ai.usage.cache_read.input_tokens': 1_000,
    'gen_ai.usage.cache_creation.input_tokens': 0,
    'gen_ai.usage.reasoning.output_tokens': 50,
    'session.id': 'conversa-7',
    'catraca.event_id': usage.id,
    'catraca.request_id': usage.requestId,
    'catraca.outcome': 'charged',
    'catraca.api_key_id': mine.apiKeyId,
    'catraca.api_key_name': 'produção',
    'catraca.stream': false,
    'catraca.first_byte_ms': 1,
    'catraca.usage_kind': 'exact',
    'catraca.units': '{"seeded":1}',
    'catraca.cost_billed_brl': 0.001234567,
    'catraca.cost_billed_brl_decimal': decimalBrl(usage.costBilledNanoBrl),
    'catraca.cost_upstream_usd': 0.0001234567,
    'catraca.cost_upstream_usd_decimal': decimalUsd(usage.costUpstreamPicoUsd),
    'catraca.fx_rate': 5,
    'catraca.markup_multiplier': 2,
  })
  // A double could not hold every amount: the digits are in the text of the request.
  const [text = ''] = collector.texts
  assert.match(text, /"catraca.cost_billed_brl","value":\{"doubleValue":0.001234567\}/)
  assert.ok(!/upstream_id|"seed"|attempts/.test(text))
  assert.equal(collector.requests[0]?.path, '/v1/traces')
})

test('Langfuse gets its keys and what it reads: kinds of usage that add up, and the cost in dollars', async () => {
  const mine = await seedDestination(db, `${collector.url}/`, {
    access: { kind: 'langfuse', publicKey: 'pk-lf-1', secretKey: 'sk-lf-secreta' },
  })
  await seedCalls(db, mine, 1, {
    promptTokens: 1_000,
    cachedTokens: 400,
    completionTokens: 100,
    reasoningTokens: 30,
    costPicoUsd: 1_000_000n,
    sessionId: 's1',
  })
  await sendAll(db, createTestExport(db))
  const [request] = collector.requests
  assert.equal(request?.path, '/api/public/otel/v1/traces')
  assert.equal(
    request?.headers.authorization,
    `Basic ${Buffer.from('pk-lf-1:sk-lf-secreta').toString('base64')}`,
  )
  assert.equal(request?.headers['x-langfuse-ingestion-version'], '4')
  const attributes = collector.spans[0]?.attributes ?? {}
  assert.equal(attributes['langfuse.observation.type'], 'generation')
  assert.equal(attributes['langfuse.trace.name'], 'chat gpt-4o')
  assert.equal(attributes['langfuse.session.id'], 's1')
  assert.equal(attributes['langfuse.observation.model.name'], 'gpt-4o')
  assert.equal(attributes['langfuse.trace.metadata.api_key_name'], 'produção')
  assert.deepEqual(JSON.parse(String(attributes['langfuse.observation.usage_details'])), {
    input: 600,
    output: 70,
    input_cached_tokens: 400,
    output_reasoning_tokens: 30,
    seeded: 1,
    total: 1_100,
  })
  // The cost of the upstream with the markup of 2: what was charged, at the rate of its charge.
  assert.equal(attributes['langfuse.observation.cost_details'], '{"total":0.000002}')
})

test('a transaction that commits late is not skipped', async () => {
  const mine = await seedDestination(db, collector.url)
  const sender = createTestExport(db)
  let late: Promise<unknown> = Promise.resolve()
  let commit = (): void => {}
  const isOpen = new Promise<string[]>((opened) => {
    late = db.transaction().execute(async (trx) => {
      opened(idsOf(await seedCalls(trx, mine, 2)))
      await new Promise<void>((resolve) => (commit = resolve))
    })
  })
  const lateIds = await isOpen
  const other = await seedBuyer(db)
  const beside = await seedDestination(db, `${collector.url}/beside`, other)
  await seedCalls(db, beside, 3)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), [], 'nothing behind the open transaction is sent')
  commit()
  await late
  await sendAll(db, sender)
  assert.equal(collector.spans.length, 5)
  assert.ok(lateIds.every((id) => arrived().includes(id)))
})

test('while transactions commit in any order, every charge is sent once', async () => {
  const seeded = [
    await seedDestination(db, collector.url),
    await seedDestination(db, collector.url),
  ]
  const sender = createTestExport(db)
  const below = (count: number): number => Math.floor(Math.random() * count)
  const made: string[] = []
  const written = new AbortController()
  const write = async (): Promise<void> => {
    for (let n = 0; n < effort({ ordinary: 12, full: 120 }); n++) {
      const whose = seeded[below(2)] as SeededDestination
      await db.transaction().execute(async (trx) => {
        made.push(...idsOf(await seedCalls(trx, whose, 1 + below(3))))
        await sleep(below(40))
      })
    }
  }
  const send = async (): Promise<void> => {
    while (!written.signal.aborted) await sendAll(db, sender)
  }
  const sending = send()
  await Promise.all([write(), write(), write(), write()])
  written.abort()
  await sending
  await sendAll(db, sender)
  assert.deepEqual(arrived(), made.toSorted())
  assert.equal(collector.spans.length, made.length)
})

test('a failing collector gets the same spans later, and its failures are told', async () => {
  const mine = await seedDestination(db, collector.url)
  const events = await seedCalls(db, mine, 3)
  collector.answer = (response) => {
    response.writeHead(503, { 'retry-after': '120' }).end('sobrecarregado')
    return true
  }
  const sender = createTestExport(db)
  await sendAll(db, sender)
  const failed = await currentDestination(db, mine)
  assert.equal(failed.failures, 1)
  assert.equal(failed.lastError, 'http_status')
  assert.equal(failed.lastHttpStatus, 503)
  assert.equal(failed.lastAnswer, 'sobrecarregado')
  assert.ok(failed.failingSince && failed.dueAt.getTime() > Date.now() + 100_000, 'Retry-After')
  assert.equal(failed.sent, 0n)
  collector.answer = () => false
  await sendAll(db, sender)
  assert.deepEqual(arrived(), idsOf(events))
  const { failures, failingSince, lastError } = await currentDestination(db, mine)
  assert.deepEqual(
    { failures, failingSince, lastError },
    { failures: 0, failingSince: null, lastError: null },
  )
})

test('a batch that is refused is counted, and the next one goes on; a wrong key loses nothing', async () => {
  const mine = await seedDestination(db, collector.url)
  await seedCalls(db, mine, 2)
  const answerWith = (status: number) => {
    collector.answer = (response) => {
      response.writeHead(status).end()
      return true
    }
  }
  const sender = createTestExport(db)
  for (const [status, error] of [
    [401, 'unauthorized'],
    [404, 'not_found'],
    [302, 'redirect'],
    [429, 'http_status'],
  ] as const) {
    answerWith(status)
    await sendAll(db, sender)
    const { rejected, lastError } = await currentDestination(db, mine)
    assert.deepEqual({ rejected, lastError }, { rejected: 0n, lastError: error })
  }
  answerWith(400)
  await sendAll(db, sender)
  const refused = await currentDestination(db, mine)
  assert.equal(refused.rejected, 2n)
  assert.equal(refused.lastError, 'batch_refused')
  collector.answer = () => false
  const next = await seedCalls(db, mine, 1)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), idsOf(next))
})

test('a batch that is too large is halved until it fits', async () => {
  const mine = await seedDestination(db, collector.url)
  const events = await seedCalls(db, mine, 200)
  let requests = 0
  collector.answer = (response) => {
    requests += 1
    if (requests > 2) return false
    response.writeHead(413).end()
    return true
  }
  await sendAll(db, createTestExport(db))
  assert.deepEqual(arrived(), idsOf(events))
  assert.equal(collector.texts.length, 4)
})

test('spans that a collector rejects are counted apart, with its words', async () => {
  const mine = await seedDestination(db, collector.url)
  await seedCalls(db, mine, 5)
  collector.answer = (response) => {
    const partialSuccess = { rejectedSpans: '2', errorMessage: 'sem modelo' }
    response.writeHead(200).end(JSON.stringify({ partialSuccess }))
    return true
  }
  await sendAll(db, createTestExport(db))
  const { sent, rejected, lastError, lastAnswer, failures } = await currentDestination(db, mine)
  assert.deepEqual(
    { sent, rejected, lastError, lastAnswer, failures },
    { sent: 3n, rejected: 2n, lastError: 'spans_refused', lastAnswer: 'sem modelo', failures: 0 },
  )
})

test('a destination that takes nothing for three days is switched off once, and resumes where it stopped', async () => {
  const mine = await seedDestination(db, collector.url)
  const events = await seedCalls(db, mine, 2)
  collector.answer = (response) => {
    response.writeHead(500).end()
    return true
  }
  const sender = createTestExport(db)
  await sendAll(db, sender)
  await sql`update usage_destinations
    set failing_since = now() - make_interval(hours => ${FAILING_HOURS_MAX}, mins => 1)`.execute(db)
  await sendAll(db, sender)
  const off = await currentDestination(db, mine)
  assert.equal(off.disabledReason, 'failing')
  const mailed = await db.selectFrom('mails').selectAll().execute()
  assert.deepEqual(
    mailed.map(({ customer_id, template }) => [customer_id, template]),
    [[mine.customerId, 'destino_de_uso_desligado']],
  )
  collector.answer = () => false
  await sendAll(db, sender)
  assert.deepEqual(arrived(), [])
  await setEnabled(mine, true)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), idsOf(events))
})

test('two refusals with days without a try between them switch nothing off', async () => {
  for (const status of [400, 500]) {
    const mine = await seedDestination(db, collector.url)
    await seedCalls(db, mine, 1)
    collector.answer = (response) => {
      response.writeHead(status).end()
      return true
    }
    await sendAll(db, createTestExport(db))
    // Nobody called a model since, or no node ran.
    await sql`update usage_destinations set failing_since = failing_since - interval '80 hours',
      last_failed_at = last_failed_at - interval '80 hours'`.execute(db)
    await seedCalls(db, mine, 1)
    await sendAll(db, createTestExport(db))
    const { disabledAt, failingSince } = await currentDestination(db, mine)
    assert.equal(disabledAt, null)
    assert.ok(Date.now() - Number(failingSince) < 3_600_000, 'the three days begin anew')
  }
})

test('a destination that its customer switches off sends nothing of that time, and one that is deleted nothing at all', async () => {
  const mine = await seedDestination(db, collector.url)
  const sender = createTestExport(db)
  await setEnabled(mine, false)
  await seedCalls(db, mine, 2)
  await sendAll(db, sender)
  await setEnabled(mine, true)
  const [event] = await seedCalls(db, mine, 1)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), [event?.id])
  await deleteDestination(db, SYSTEM, { customerId: mine.customerId, id: mine.destination.id })
  await seedCalls(db, mine, 1)
  await sendAll(db, sender)
  assert.deepEqual(arrived(), [event?.id])
})

test('a destination that is deleted while its collector refuses a large batch gets no smaller one', async () => {
  const mine = await seedDestination(db, collector.url)
  await seedCalls(db, mine, 4)
  const { customerId, destination } = mine
  collector.answer = (response) => {
    void deleteDestination(db, SYSTEM, { customerId, id: destination.id }).then(() =>
      response.writeHead(413).end(),
    )
    return true
  }
  await sendAll(db, createTestExport(db))
  assert.equal(collector.requests.length, 1)
})

test('charges that could not be sent for a week are given up, and counted', async () => {
  const mine = await seedDestination(db, collector.url)
  const old = await seedCalls(db, mine, 3)
  await sql`update usage_events set settled_at = now() - interval '8 days', created_at = now() - interval '8 days 1 minute'
    where customer_id = ${mine.customerId}`.execute(db)
  await sql`update usage_destinations set sent_until = now() - interval '10 days'`.execute(db)
  const [event] = await seedCalls(db, mine, 1)
  await sendAll(db, createTestExport(db))
  assert.deepEqual(arrived(), [event?.id])
  assert.equal((await currentDestination(db, mine)).givenUp, BigInt(old.length))
})

test('dead and slow collectors delay no other customer', async () => {
  const silent = await startOtlpCollector()
  silent.answer = () => true
  const endless = await startOtlpCollector()
  endless.answer = (response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(1_000_000)
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', more)
    }
    more()
    return true
  }
  const redirecting = await startOtlpCollector()
  redirecting.answer = (response) => {
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    return true
  }
  const hostile = [silent, endless, redirecting]
  const seeded = await Promise.all(
    Array.from({ length: 15 }, (_, n) =>
      seedDestination(db, (hostile[n % hostile.length] as OtlpCollector).url),
    ),
  )
  for (const each of seeded) await seedCalls(db, each, 1)
  const first = createTestExport(db, { timeoutMs: 500 })
  // No try of a silent one ends by itself.
  const sender = createTestExport(db, { timeoutMs: 60_000 })
  try {
    await first.startDue()
    await first.whenIdle()
    const mine = await seedDestination(db, collector.url)
    const events = await seedCalls(db, mine, 250)
    await sql`update usage_destinations set due_at = now()`.execute(db)
    const startedMs = performance.now()
    await sender.startDue()
    while (collector.spans.length < 250 && performance.now() - startedMs < 30_000)
      await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepEqual(arrived(), idsOf(events))
  } finally {
    for (const each of hostile) each.close()
    await sender.stop()
  }
  const state = await currentDestination(db, seeded[2] as SeededDestination)
  assert.equal(state.lastError, 'redirect')
})

test('a place that becomes free while others are claimed is used at once', async () => {
  const places = 8
  const seeded = await Promise.all(
    Array.from({ length: places + 2 }, () => seedDestination(db, collector.url)),
  )
  for (const each of seeded) await seedCalls(db, each, 1)
  await sql`update usage_events set settled_at = now() - interval '1 minute', created_at = now() - interval '2 minutes'
    where customer_id = any(${seeded.map(({ customerId }) => customerId)})`.execute(db)
  await sql`update usage_destinations set sent_until = now() - interval '1 hour'`.execute(db)
  const waiting: ServerResponse[] = []
  collector.answer = (response) => waiting.push(response) > 0
  const claimed = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const sender = createTestExport(
    db.withPlugin({
      transformQuery: ({ node }) => node,
      /** Holds back the answer to the claim that follows the first ones. */
      async transformResult({ result }) {
        if (waiting.length < places || !result.rows.some((row) => 'secretSealed' in row))
          return result
        claimed.resolve()
        await gate.promise
        return result
      },
    }),
    // No try ends by itself.
    { timeoutMs: 60_000 },
  )
  const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    for (const endMs = Date.now() + 10_000; !(await isTrue()); await sleep(10))
      assert.ok(Date.now() < endMs, `${waiting.length} requests`)
  }
  const sent = async (): Promise<number> =>
    (await sql`select from usage_destinations where sent > 0`.execute(db)).rows.length
  try {
    await sender.startDue()
    await until(() => waiting.length === places)
    waiting[0]?.end('{}')
    await claimed.promise
    waiting[1]?.end('{}')
    await until(async () => (await sent()) === 2)
    await sleep(50)
    gate.resolve()
    await until(() => waiting.length === places + 2)
  } finally {
    gate.resolve()
    collector.answer = () => false
    for (const response of waiting) response.end('{}')
    await sender.stop()
  }
})

test('a destination has one place at a time, however often its customer changes and tests it meanwhile', async () => {
  const mine = await seedDestination(db, collector.url)
  await seedCalls(db, mine, 1)
  await sql`update usage_destinations set latency_ms = 1`.execute(db)
  collector.answer = () => true
  const { customerId, destination } = mine
  const sender = createTestExport(db, { timeoutMs: 1_000 })
  for (let n = 0; n < 6; n++) {
    await sender.startDue()
    if (n % 2 === 0) await askForTest(db, { customerId, id: destination.id })
    else await setUrl(mine, collector.url)
  }
  await sleep(300)
  assert.ok(collector.requests.length <= 1, `${collector.requests.length} at once`)
  collector.answer = () => false
  await sendAll(db, sender)
  assert.equal((await currentDestination(db, mine)).sent, 1n)
})

test('a collector that is slow to refuse large batches, or a test, keeps no place of the quick ones', async () => {
  const mine = await seedDestination(db, collector.url)
  await seedCalls(db, mine, 4)
  await sql`update usage_destinations set latency_ms = 1`.execute(db)
  const latency = async (): Promise<number> =>
    (await sql<{ ms: number }>`select latency_ms as ms from usage_destinations`.execute(db)).rows[0]
      ?.ms ?? 0
  collector.answer = (response) => {
    setTimeout(() => response.writeHead(413).end(), 150)
    return true
  }
  const sender = createTestExport(db, { runMs: 100 })
  await sender.startDue()
  await sender.whenIdle()
  const { failures, lastError, rejected } = await currentDestination(db, mine)
  assert.deepEqual([failures, lastError, rejected], [1, 'batch_too_large', 0n])
  assert.ok((await latency()) >= 140)
  await sql`update usage_destinations set latency_ms = 1`.execute(db)
  await askForTest(db, { customerId: mine.customerId, id: mine.destination.id })
  await sender.startDue()
  await sender.whenIdle()
  assert.ok((await latency()) >= 140)
})

test('an address that became private is refused at each delivery, and nothing connects to it', async () => {
  const mine = await seedDestination(
    db,
    `http://collector.example.com:${new URL(collector.url).port}`,
  )
  await seedCalls(db, mine, 1)
  const addresses = ['169.254.169.254', '127.0.0.1', '10.0.0.1']
  for (const address of addresses) {
    const settings = { ...DESTINATION_SETTINGS, allowPrivate: false }
    await sendAll(db, createTestExport(db, { settings, lookup: async () => [{ address }] }))
    assert.equal((await currentDestination(db, mine)).lastError, 'refused_address')
  }
  assert.equal(collector.requests.length, 0)
})

test('live mode sends over https only, also to an address that was set before', async () => {
  const mine = await seedDestination(db, collector.url)
  await seedCalls(db, mine, 1)
  const settings = { ...DESTINATION_SETTINGS, allowHttp: false }
  await sendAll(db, createTestExport(db, { settings }))
  assert.equal((await currentDestination(db, mine)).lastError, 'https_required')
  assert.equal(collector.requests.length, 0)
})

test('secrets are sealed, are in no log, and are hidden where a collector says them', async () => {
  const secret = 'Bearer segredo-muito-secreto'
  const lines: string[] = []
  const write = (event: string, facts?: object): void =>
    void lines.push(JSON.stringify({ event, ...facts }))
  const mine = await seedDestination(db, collector.url, {
    access: { kind: 'otlp', headers: { Authorization: secret } },
  })
  await seedCalls(db, mine, 1)
  collector.answer = (response) => {
    response.writeHead(500).end(`you sent ${secret}, and segredo-muito-secreto`)
    return true
  }
  const log = { debug: write, info: write, warn: write, error: write }
  await sendAll(db, createTestExport(db, { log }))
  assert.equal(collector.requests[0]?.headers.authorization, secret)
  const { lastAnswer, headerNames } = await currentDestination(db, mine)
  assert.equal(lastAnswer, 'you sent ***, and ***')
  assert.deepEqual(headerNames, ['authorization'])
  const { rows } = await sql<{ row: string }>`
    select d::text || encode(secret_sealed, 'escape') as row from usage_destinations d`.execute(db)
  assert.ok(!`${lines.join()} ${rows[0]?.row}`.includes('segredo'))
})

test('secrets are hidden also as collectors write them: in JSON, in an address, in base64, a part alone', async () => {
  const secret = 'abc/DEF+ghi"jkl=='
  const mine = await seedDestination(db, collector.url, {
    access: { kind: 'otlp', headers: { 'x-key': `id-of-it:${secret}` } },
  })
  await seedCalls(db, mine, 1)
  const inUrl = encodeURIComponent(secret)
  const said = [
    JSON.stringify(secret),
    JSON.stringify(secret).replaceAll('/', '\\/'),
    inUrl,
    inUrl.replaceAll(/%../g, (text) => text.toLowerCase()),
    Buffer.from(`id-of-it:${secret}`).toString('base64'),
  ]
  collector.answer = (response) => {
    response.writeHead(401).end(said.join(' '))
    return true
  }
  await sendAll(db, createTestExport(db))
  const { lastAnswer } = await currentDestination(db, mine)
  assert.match(String(lastAnswer), /\*\*\*/)
  assert.doesNotMatch(String(lastAnswer), /abc|ghi|jkl|YWJj|aWQtb2/i)
})

test('another sealing key is a failure of its own, which sends nothing', async () => {
  const mine = await seedDestination(db, collector.url, { sealingKey: Buffer.alloc(32, 7) })
  await seedCalls(db, mine, 1)
  await sendAll(db, createTestExport(db))
  assert.equal((await currentDestination(db, mine)).lastError, 'secret_unreadable')
  assert.equal(collector.requests.length, 0)
})

test('a test span goes at once, costs nothing, and its result is told', async () => {
  const mine = await seedDestination(db, collector.url)
  const asked = { customerId: mine.customerId, id: mine.destination.id }
  await askForTest(db, asked)
  const sender = createTestExport(db)
  await sender.startDue()
  await sender.whenIdle()
  assert.deepEqual(
    collector.spans.map(({ name, attributes }) => [name, attributes['catraca.test']]),
    [['catraca test', true]],
  )
  const passed = await currentDestination(db, mine)
  assert.ok(passed.testedAt && passed.testError === null && passed.sent === 0n)
  collector.answer = (response) => {
    response.writeHead(401).end()
    return true
  }
  await askForTest(db, asked)
  await sender.startDue()
  await sender.whenIdle()
  assert.equal((await currentDestination(db, mine)).testError, 'unauthorized')
  await setEnabled(mine, false)
  assert.deepEqual(await askForTest(db, asked), { problem: 'usage_destination_disabled' })
})

test('prompts and answers go only where they are stored and asked for, and none of a team', async () => {
  const plain = await seedDestination(db, `${collector.url}/plain`)
  const full = await seedDestination(db, `${collector.url}/full`, {
    ...plain,
    includesContent: true,
  })
  await sql`update customers set stored_responses_days = 30 where id = ${plain.customerId}`.execute(
    db,
  )
  const [stored, unstored, large] = await seedCalls(db, plain, 3)
  assert.ok(stored && unstored && large)
  const store = createResponseStore({ db, ...DESTINATION_SETTINGS })
  const put = (id: string, text: string, keyId: string = plain.apiKeyId) =>
    store.put({
      id,
      customerId: plain.customerId,
      keyId,
      previousId: null,
      isFailed: false,
      input: JSON.stringify([{ role: 'user', content: [{ type: 'input_text', text }] }]),
      output: JSON.stringify([
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'olá' }] },
      ]),
      head: '{}',
    })
  await put(stored.id, 'oi')
  await put(large.id, 'x'.repeat(300_000))
  // As if a key of a team had made it.
  const teamId = await seedTeam(db, plain.customerId)
  const { customerId } = plain
  const { key: teamKey } = await createApiKey(db, {
    customerId,
    name: 'equipe',
    requestsPerMinute: 1_000,
    teamId,
  })
  const [ofTeam] = await seedCalls(db, { customerId, apiKeyId: teamKey.id }, 1, { teamId })
  assert.ok(ofTeam)
  await put(ofTeam.id, 'do membro', teamKey.id)
  await sendAll(db, createTestExport(db))
  const bodies = (path: string): string =>
    collector.texts.filter((_, n) => collector.requests[n]?.path.startsWith(path)).join()
  assert.ok(!bodies('/plain').includes('messages'))
  assert.ok(bodies('/full').includes('messages'))
  const span = (id: string) =>
    collector.spans.findLast(
      ({ attributes }) =>
        attributes['catraca.event_id'] === id &&
        (attributes['gen_ai.input.messages'] ?? attributes['catraca.content_omitted']),
    )
  assert.deepEqual(JSON.parse(String(span(stored.id)?.attributes['gen_ai.input.messages'])), [
    { role: 'user', parts: [{ type: 'text', content: 'oi' }] },
  ])
  assert.deepEqual(JSON.parse(String(span(stored.id)?.attributes['gen_ai.output.messages'])), [
    { role: 'assistant', parts: [{ type: 'text', content: 'olá' }] },
  ])
  assert.equal(span(unstored.id), undefined)
  assert.equal(span(ofTeam.id), undefined)
  assert.ok(!collector.texts.join().includes('do membro'))
  assert.equal(span(large.id)?.attributes['catraca.content_omitted'], 'too_large')
  assert.equal((await currentDestination(db, full)).sent, 4n)
})

test('a destination that is changed while a batch is under way sends it to the new address', async () => {
  const other = await startOtlpCollector()
  try {
    const mine = await seedDestination(db, collector.url)
    const events = await seedCalls(db, mine, 2)
    const { customerId, destination } = mine
    collector.answer = (response) => {
      void changeDestination(db, SYSTEM, sealingKey, {
        customerId,
        id: destination.id,
        readChange: () => ({ url: other.url }),
        fields: ['url'],
      }).then(() => response.writeHead(200).end('{}'))
      return true
    }
    await sendAll(db, createTestExport(db))
    assert.deepEqual(arrived(other), idsOf(events))
    assert.equal((await currentDestination(db, mine)).sent, 2n)
  } finally {
    other.close()
  }
})

test('two workers at once send nothing twice', async () => {
  const seeded = await Promise.all(
    Array.from({ length: 6 }, () => seedDestination(db, collector.url)),
  )
  for (const each of seeded) await seedCalls(db, each, 30)
  const workers = [createTestExport(db), createTestExport(db), createTestExport(db)]
  await sql`update usage_destinations set due_at = now()`.execute(db)
  await Promise.all(workers.map((each) => each.startDue()))
  await Promise.all(workers.map((each) => each.whenIdle()))
  assert.equal(collector.spans.length, 180)
  assert.equal(arrived().length, 180)
})

test('a correction is spans of its own: its sums are those of the usage API', async () => {
  const mine = await seedDestination(db, collector.url)
  const [event] = await seedCalls(db, mine, 1, { promptTokens: 100, completionTokens: 10 })
  assert.ok(event)
  await sql`
    insert into usage_events
    select (jsonb_populate_record(e, jsonb_build_object(
      'id', ${createId()}::text, 'reason', 'reversal', 'corrects_id', e.id, 'prompt_tokens', -e.prompt_tokens,
      'cost_billed_nano_brl', -e.cost_billed_nano_brl, 'settled_at', clock_timestamp()))).*
    from usage_events e where id = ${event.id}`.execute(db)
  await sendAll(db, createTestExport(db))
  const sums = collector.spans.map(({ attributes }) => attributes['catraca.cost_billed_brl'])
  assert.equal(
    sums.map(Number).reduce((a, b) => a + b, 0),
    0,
  )
  const reversal = collector.spans.find(({ name }) => name === 'correction gpt-4o')
  assert.equal(reversal?.attributes['catraca.corrects_id'], event.id)
  assert.equal(reversal?.attributes['gen_ai.usage.input_tokens'], -100)
})
