// deep: exports while charges are written, and while the database fails
/** Exports of usage contain every charge once and to the digit, even during writes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiKey } from '../../src/customers/api-keys.ts'
import { credit, debit } from '../../src/money/ledger/entries.ts'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { SEED_FX_DATE, SEED_FX_SOURCE, seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { seedCustomer, withClient } from '../harness/test-database.ts'
import { exactJson } from './exact-json.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { database, node } = gateway
const { db } = database
const ALL = '?from=2000-01-01&to=2999-12-31'

interface Customer {
  readonly customerId: string
  readonly key: ApiKey
  readonly secret: string
  seed(events: readonly SeededUse[]): ReturnType<typeof seedUsage>
}

async function newCustomer(options: { name?: string; timezone?: string } = {}): Promise<Customer> {
  const { name = 'teste', timezone = 'America/Sao_Paulo' } = options
  const made = await seedCustomer(db, { balanceBrl: '10000', name })
  const { customerId, key } = made
  await db.updateTable('customers').set({ timezone }).where('id', '=', customerId).execute()
  return { ...made, seed: (events) => seedUsage(db, { customerId, apiKeyId: key.id, events }) }
}

function use(more: Partial<SeededUse> = {}): SeededUse {
  return { at: new Date(), modelId: 'm', promptTokens: 3, completionTokens: 4, ...more }
}

async function exportJson({ secret }: Customer, query = ALL): Promise<any> {
  const answer = await ask(node.baseUrl, `/usage/export.json${query}`, { secret })
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  return exactJson(answer.text)
}

/** The cells, read by an independent parser. */
async function exportCsv({ secret }: Customer, query = ALL): Promise<string[][]> {
  const { status, text } = await ask(node.baseUrl, `/usage/export.csv${query}`, { secret })
  assert.equal(status, 200, text.slice(0, 300))
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^";\r\n]*))(;|\r\n)/g,
  )) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  assert.deepEqual(rows.pop(), [])
  return rows
}

function sum(amounts: readonly string[]): bigint {
  return amounts.reduce((total, amount) => total + (parseBrl(amount) as bigint), 0n)
}

async function chargedOf({ customerId }: Customer): Promise<bigint> {
  const account = db.selectFrom('accounts').select('charged_nano_brl')
  return (await account.where('customer_id', '=', customerId).executeTakeFirstOrThrow())
    .charged_nano_brl
}

/** An answer whose body is not read yet. */
async function open({ secret }: Customer, format: 'csv' | 'json'): Promise<IncomingMessage> {
  const request = get(`${node.baseUrl}/usage/export.${format}${ALL}`, {
    headers: { authorization: `Bearer ${secret}` },
    agent: false,
  })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return answer
}

/** More than all buffers between server and client hold. */
const large = await newCustomer()
await large.seed(
  Array.from({ length: 30_000 }, (_, index) =>
    use({ at: new Date(Date.UTC(2026, 0, 1) + index * 1000), billed: BigInt(index % 7) }),
  ),
)

test('both formats have every charge once, oldest first, and add up to the account to the digit', async () => {
  const customer = await newCustomer()
  // Many charges in one microsecond, so that batches end among them.
  const seeded = await customer.seed(
    Array.from({ length: 5_001 }, (_, index) =>
      use({
        at: `2026-03-0${1 + Math.floor(index / 2_500)}T12:00:00.12345${index % 2}Z`,
        billed: BigInt(index) * 1_003n + 1n,
        ...(index % 100 === 0 ? { outcome: 'released', billed: 0n } : {}),
      }),
    ),
  )
  for (const n of [1, 2, 3])
    assert.equal(
      (await askChat(node.baseUrl, customer.secret, sound('sandbox-chat', { n }))).status,
      200,
    )

  const { total_events, events } = await exportJson(customer)
  const charged = seeded.filter(({ billed }) => billed > 0n)
  assert.equal(total_events, String(charged.length + 3))
  assert.equal(events.length, charged.length + 3)
  const ids = new Set(events.map(({ id }: { id: string }) => id))
  assert.equal(ids.size, events.length)
  for (const { id } of charged) assert.ok(ids.has(id))
  const times: string[] = events.map(({ created_at }: { created_at: string }) => created_at)
  assert.deepEqual(times, times.toSorted())
  const total = await chargedOf(customer)
  assert.equal(
    sum(events.map((event: { cost_billed_brl: string }) => event.cost_billed_brl)),
    total,
  )

  const [head = [], ...rows] = await exportCsv(customer)
  const column = (title: string): string[] => rows.map((row) => row[head.indexOf(title)] as string)
  assert.deepEqual(
    column('ID da cobrança'),
    events.map(({ id }: { id: string }) => id),
  )
  assert.equal(sum(column('Valor cobrado (BRL)').map((cell) => cell.replace(',', '.'))), total)
  await assertAudit(database)
})

test('an event contains everything that explains its charge, in both formats', async () => {
  const customer = await newCustomer({ name: 'Chave; "de" teste' })
  const at = '2026-03-01T02:59:59.999999Z'
  const [event] = await customer.seed([
    use({ at, modelId: 'gpt-4o', costPicoUsd: 1_234_567_891n, sessionId: 's;1', cachedTokens: 2 }),
  ])
  assert.ok(event)
  const exported = await exportJson(customer, '?from=2026-02-28&to=2026-02-28')
  assert.deepEqual(exported, {
    period: {
      from: '2026-02-28',
      to: '2026-02-28',
      timezone: 'America/Sao_Paulo',
      from_at: '2026-02-28T03:00:00.000Z',
      until_at: '2026-03-01T03:00:00.000Z',
    },
    events: [
      {
        id: event.id,
        request_id: event.requestId,
        model_id: 'gpt-4o',
        api_key_id: customer.key.id,
        api_key_name: 'Chave; "de" teste',
        team_id: null,
        session_id: 's;1',
        prompt_tokens: '3',
        cached_tokens: '2',
        cache_write_tokens: '0',
        completion_tokens: '4',
        reasoning_tokens: '0',
        units: { seeded: '1' },
        usage_kind: 'exact',
        cost_billed_brl: '0.012345679',
        cost_upstream_usd: '0.001234567891',
        fx_rate: '5',
        fx_rate_date: SEED_FX_DATE,
        fx_rate_source: SEED_FX_SOURCE,
        markup_multiplier: '2',
        corrects_id: null,
        created_at: '2026-03-01T02:59:59.999Z',
      },
    ],
    total_events: '1',
  })
  const answer = await fetch(`${node.baseUrl}/usage/export.csv?from=2026-02-28&to=2026-02-28`, {
    headers: { authorization: `Bearer ${customer.secret}` },
  })
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(
    answer.headers.get('content-disposition'),
    'attachment; filename="uso-2026-02-28-a-2026-02-28.csv"',
  )
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
  const lines = bytes.subarray(3).toString().split('\r\n')
  assert.equal(
    lines[0],
    [
      'Data e hora (horário de Brasília)',
      'Data e hora (UTC)',
      'ID da cobrança',
      'ID da requisição',
      'Modelo',
      'ID da chave',
      'Nome da chave',
      'ID da equipe',
      'Sessão',
      'Tokens de entrada',
      'Tokens de entrada lidos do cache',
      'Tokens de entrada gravados no cache',
      'Tokens de saída',
      'Tokens de raciocínio',
      'Outras unidades',
      'Medição',
      'Custo do fabricante (USD)',
      'Câmbio (BRL por USD)',
      'Data do câmbio',
      'Fonte do câmbio',
      'Multiplicador',
      'Valor cobrado (BRL)',
      'Corrige a cobrança',
    ].join(';'),
  )
  assert.equal(
    lines[1],
    `28/02/2026 23:59:59;2026-03-01T02:59:59.999Z;${event.id};${event.requestId};gpt-4o;${customer.key.id};` +
      `"Chave; ""de"" teste";;"s;1";3;2;0;4;0;seeded: 1;exata;0,001234567891;5;02/01/2026;ptax;2;0,012345679;`,
  )
  assert.deepEqual(lines.slice(2), [''])
})

for (const [timezone, offset] of [
  ['America/Sao_Paulo', '-03:00'],
  ['Asia/Kolkata', '+05:30'],
] as const) {
  test(`days begin and end at midnight in ${timezone}`, async () => {
    const customer = await newCustomer({ timezone })
    const at = [
      `2026-05-09T23:59:59.999999${offset}`,
      `2026-05-10T00:00:00${offset}`,
      `2026-05-10T23:59:59.999${offset}`,
      `2026-05-10T23:59:59.999999${offset}`,
      `2026-05-11T00:00:00${offset}`,
    ]
    const ids = (await customer.seed(at.map((time) => use({ at: time })))).map(({ id }) => id)
    const idsOf = (list: { id: string }[]): string[] => list.map(({ id }) => id)
    const day = '?from=2026-05-10&to=2026-05-10'
    assert.deepEqual(idsOf((await exportJson(customer, day)).events), ids.slice(1, 4))
    const rows = (await exportCsv(customer, day)).slice(1)
    assert.deepEqual(
      rows.map((row) => row[0]),
      ['10/05/2026 00:00:00', '10/05/2026 23:59:59', '10/05/2026 23:59:59'],
    )
    const { json } = await ask(node.baseUrl, `/usage/events${day}`, customer)
    assert.deepEqual(idsOf(json.usage_events), ids.slice(1, 4).toReversed())
    const upTo = await exportJson(customer, '?to=2026-05-10')
    assert.deepEqual(idsOf(upTo.events), ids.slice(0, 4))
    assert.equal(upTo.period.from, '2026-04-11')
  })
}

test('without days an export has the last 30 days, today included', async () => {
  const customer = await newCustomer({ timezone: 'UTC' })
  const midnight = Date.parse(new Date().toISOString().slice(0, 10))
  const first = midnight - 29 * 86_400_000
  const [, inside, now] = await customer.seed([
    use({ at: new Date(first - 1) }),
    use({ at: new Date(first) }),
    use({ at: new Date() }),
  ])
  const { period, events } = await exportJson(customer, '')
  // The day may have changed meanwhile.
  if (Date.now() - midnight >= 86_400_000) return
  assert.deepEqual(
    events.map(({ id }: { id: string }) => id),
    [inside?.id, now?.id],
  )
  assert.equal(period.from_at, new Date(first).toISOString())
})

test('text that begins like a formula is exported as text', async () => {
  const customer = await newCustomer({ name: '=HYPERLINK("http://x";"y")' })
  await customer.seed(['-1+2', '@SUM(A1)', '+1', '=1'].map((sessionId) => use({ sessionId })))
  const [head = [], ...rows] = await exportCsv(customer)
  for (const row of rows) {
    assert.equal(row[head.indexOf('Nome da chave')], `'=HYPERLINK("http://x";"y")`)
    assert.match(row[head.indexOf('Sessão')] as string, /^'[-@+=]/)
  }
  assert.equal(rows.length, 4)
})

test('an export that others write to meanwhile counts what it has, and misses nothing from before', async () => {
  const customer = await newCustomer()
  const at = '2026-03-01T12:00:00.000001Z'
  const before = await customer.seed(Array.from({ length: 6_000 }, () => use({ at })))
  const over = new AbortController()
  const writing = (async () => {
    while (!over.signal.aborted) await customer.seed([use({ at }), use()])
  })()
  for (let round = 0; round < 3; round++) {
    const { total_events, events } = await exportJson(customer)
    const ids = new Set(events.map(({ id }: { id: string }) => id))
    assert.equal(total_events, String(events.length))
    assert.equal(ids.size, events.length)
    for (const { id } of before) assert.ok(ids.has(id))
  }
  over.abort()
  await writing
})

test('pages contain charges of the same time once each, while others arrive', async () => {
  const customer = await newCustomer()
  const at = [
    '2026-03-01T12:00:00.000001Z',
    '2026-03-01T12:00:00.000002Z',
    '2026-03-01T12:00:00.0009Z',
  ]
  const seeded = await customer.seed(
    Array.from({ length: 60 }, (_, index) => use({ at: at[index % 3] as string })),
  )
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/usage/events?limit=7&to=2026-03-01${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { json } = await ask(node.baseUrl, path, customer)
    assert.ok(json.usage_events.length <= 7)
    seen.push(...json.usage_events.map(({ id }: { id: string }) => id))
    cursor = json.next_cursor
    await customer.seed([use({ at: '2026-03-01T12:00:00.001Z' }), use()])
  }
  const byTime = seeded
    .map(({ id }, index) => ({ id, place: `${index % 3} ${id}` }))
    .sort((left, right) => (left.place < right.place ? 1 : -1))
  assert.deepEqual(
    seen,
    byTime.map(({ id }) => id),
  )
})

test('pages contain only the requested charges', async () => {
  const customer = await newCustomer()
  const other = await newCustomer()
  const list = [
    use({ modelId: 'a', sessionId: 's' }),
    use({ modelId: 'b', sessionId: 's' }),
    use({ modelId: 'b', sessionId: 't', apiKeyId: other.key.id }),
    use({ modelId: 'b', outcome: 'released' }),
  ]
  const ids = (await customer.seed(list)).map(({ id }) => id)
  await other.seed(list)
  const asked = async (query: string): Promise<string[]> => {
    const { json, text } = await ask(node.baseUrl, `/usage/events?${query}`, customer)
    assert.ok(json.usage_events, text)
    return json.usage_events.map(({ id }: { id: string }) => id)
  }
  assert.deepEqual((await asked('')).toSorted(), ids.slice(0, 3).toSorted())
  assert.deepEqual(await asked('model_id=a'), [ids[0]])
  assert.deepEqual(await asked('session_id=t'), [ids[2]])
  assert.deepEqual(await asked('session_id=s&model_id=b'), [ids[1]])
  assert.deepEqual(await asked(`api_key_id=${other.key.id}`), [ids[2]])
  assert.deepEqual(await asked('model_id=none'), [])
})

test('a customer sees no charges of others', async () => {
  const nobody = await newCustomer()
  assert.equal((await exportJson(nobody)).total_events, '0')
  assert.equal((await exportCsv(nobody)).length, 1)
  const { json } = await ask(node.baseUrl, '/usage', nobody)
  assert.deepEqual(json.usage_events, [])
  const page = (await ask(node.baseUrl, '/usage/events?limit=1', large)).json
  assert.equal(page.usage_events.length, 1)
  const behind = `/usage/events?cursor=${page.next_cursor}`
  assert.deepEqual((await ask(node.baseUrl, behind, nobody)).json.usage_events, [])
})

test('GET /usage has the balance to the digit and the newest 100 charges', async () => {
  const customer = await newCustomer()
  const seeded = await customer.seed(
    Array.from({ length: 101 }, (_, index) =>
      use({ at: new Date(Date.UTC(2026, 2, 1) + index), billed: 10_000_001n }),
    ),
  )
  const { balance, usage_events } = exactJson((await ask(node.baseUrl, '/usage', customer)).text)
  assert.deepEqual(balance, {
    balance_brl: decimalBrl(10_000n * 10n ** 9n - 101n * 10_000_001n),
    total_topped_up_brl: '10000',
    total_other_credits_brl: '0',
    total_spent_brl: decimalBrl(101n * 10_000_001n),
    total_refunded_brl: '0',
    total_other_debits_brl: '0',
  })
  assert.deepEqual(
    usage_events.map(({ id }: { id: string }) => id),
    seeded
      .slice(1)
      .map(({ id }) => id)
      .toReversed(),
  )
})

test('the balance adds up after refunds, rewards, adjustments and charge-backs, wherever it is shown', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  await customer.seed([use({ billed: 7n * 10n ** 9n })])
  const entry = (reason: string, brl: bigint, reference = reason) => ({
    customerId,
    amountNanoBrl: brl * 10n ** 9n,
    reason,
    reference: `${customerId} ${reference}`,
  })
  await credit(db, entry('referral', 10n))
  await credit(db, entry('adjustment', 3n, 'credit'))
  await debit(db, entry('refund', 45n))
  await debit(db, entry('refund', 20n, 'rejected'))
  await credit(db, entry('refund_rejected', 20n))
  await debit(db, entry('chargeback', 100n))
  await debit(db, entry('adjustment', 1n, 'debit'))
  const shown = {
    balance_brl: '9860',
    total_topped_up_brl: '10000',
    total_other_credits_brl: '13',
    total_spent_brl: '7',
    total_refunded_brl: '45',
    total_other_debits_brl: '101',
  }
  for (const path of ['/usage', '/me/export', '/me/usage-summary']) {
    const answer = exactJson((await ask(node.baseUrl, path, customer)).text)
    const { balance = answer } = answer
    assert.deepEqual({ ...shown, ...balance }, { ...balance, ...shown }, path)
  }
})

test('days that do not exist are refused', async () => {
  for (const path of ['/usage/export.csv', '/usage/export.json', '/usage/events']) {
    for (const [query, details] of [
      ['from=2026-02-30', /^from: /],
      ['to=2026-13-01', /^to: /],
      ['to=0000-01-01', /^to: /],
      ['from=1.1.2026', /^from: /],
      ['from=2026-01-01T00:00:00Z', /^from: /],
      ['from=2026-01-02&to=2026-01-01', /^from: não pode ser depois de to/],
      ['from=2900-01-01', /^from: não pode ser depois de to/],
    ] as const) {
      const answer = await ask(node.baseUrl, `${path}?${query}`, large)
      assert.equal(answer.status, 400, `${path}?${query}`)
      assert.equal(answer.json.error, 'invalid_request')
      assert.match(answer.json.details, details)
    }
  }
})

test('a HEAD is answered like the export, without its body', async () => {
  const answer = await ask(node.baseUrl, '/usage/export.csv', { ...large, method: 'HEAD' })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(answer.text, '')
})

test('a customer can run two exports at once; a disconnected one frees its place, and other customers never wait', async () => {
  const first = await open(large, 'json')
  const second = await open(large, 'csv')
  const third = await ask(node.baseUrl, '/usage/export.json', large)
  assert.equal(third.status, 429)
  assert.equal(third.json.error, 'too_many_exports')
  assert.match(third.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.equal((await exportJson(await newCustomer())).total_events, '0')

  first.destroy()
  for (;;) {
    const again = await ask(node.baseUrl, '/usage/export.json?from=2000-01-01', large)
    if (again.status === 200) {
      assert.equal(again.json.total_events, again.json.events.length)
      break
    }
    assert.equal(again.status, 429)
    await sleep(20)
  }
  let text = ''
  for await (const chunk of second) text += String(chunk)
  assert.ok(second.complete, 'the one that went on came to its end')
  assert.equal(text.split('\r\n').length, 1 + (await exportJson(large)).events.length + 1)
})

test('if the database fails midway the connection is cut, and the next export is complete', async () => {
  const json = await open(large, 'json')
  const csv = await open(large, 'csv')
  const name = new URL(database.databaseUrl.replace('@/', '@h/')).pathname.slice(1)
  const serverUrl = process.env.TEST_DATABASE_URL as string
  const allow = (isAllowed: boolean): Promise<unknown> =>
    withClient(serverUrl, (client) =>
      client.query(`alter database ${name} allow_connections ${isAllowed}`),
    )
  await allow(false)
  try {
    // In a run with a replica, exports read from there.
    for (const url of [serverUrl, process.env.TEST_DATABASE_READ_AT ?? serverUrl])
      await withClient(url, (client) =>
        client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
          name,
        ]),
      )
    for (const answer of [json, csv]) {
      let text = ''
      await assert.rejects(async () => {
        for await (const chunk of answer) text += String(chunk)
      }, /aborted|ECONNRESET/)
      assert.ok(!answer.complete)
      assert.doesNotMatch(text, /total_events/)
    }
    const refused = await ask(node.baseUrl, '/usage/export.csv', large)
    assert.equal(refused.status, 503)
    assert.equal(refused.json.error, 'service_unavailable')
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal(refused.headers.get('content-disposition'), null)
  } finally {
    await allow(true)
  }
  assert.ok(node.log.some((line) => line.includes('export_failed')))
  const deadline = Date.now() + 60_000
  for (;;) {
    const again = await ask(node.baseUrl, `/usage/export.json${ALL}`, large)
    if (again.status === 200) {
      assert.equal(again.json.total_events, 30_000)
      break
    }
    assert.ok(Date.now() < deadline, again.text)
    await sleep(50)
  }
})
