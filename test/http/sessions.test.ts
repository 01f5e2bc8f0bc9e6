/** Usage sessions: their sums in the ledger equal the sums of their charges. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import type { ApiKey } from '../../src/customers/api-keys.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { exactJson } from './exact-json.ts'
import { ask, askChat, billedIn, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { database, node } = gateway
const { db } = database

interface Customer {
  readonly customerId: string
  readonly key: ApiKey
  readonly secret: string
  seed(events: readonly SeededUse[]): ReturnType<typeof seedUsage>
}

async function newCustomer(timezone = 'America/Sao_Paulo'): Promise<Customer> {
  const made = await seedCustomer(db, { balanceBrl: '10000' })
  const { customerId, key } = made
  await db.updateTable('customers').set({ timezone }).where('id', '=', customerId).execute()
  return { ...made, seed: (events) => seedUsage(db, { customerId, apiKeyId: key.id, events }) }
}

function use(sessionId: string, more: Partial<SeededUse> = {}): SeededUse {
  return { at: new Date(), modelId: 'm', promptTokens: 3, completionTokens: 4, sessionId, ...more }
}

async function get({ secret }: Customer, path: string): Promise<any> {
  const answer = await ask(node.baseUrl, path, { secret })
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`)
  return exactJson(answer.text)
}

function pathOf(sessionId: string): string {
  return `/me/sessions/${encodeURIComponent(sessionId)}`
}

function idsOf(list: readonly { id: string }[]): string[] {
  return list.map(({ id }) => id)
}

test('calls that name a session are one session, with the sums of their charges', async () => {
  const customer = await newCustomer()
  const sessionId = randomUUID()
  const billed: string[] = []
  for (const model of ['sandbox-chat', 'sandbox-chat', 'gpt-4o']) {
    const headers = { 'x-svc-session-id': sessionId }
    const answer = await askChat(node.baseUrl, customer.secret, sound(model), headers)
    assert.equal(answer.status, 200, answer.text)
    billed.push(billedIn(answer.text) as string)
  }
  await askChat(node.baseUrl, customer.secret, sound())
  const failing = sound('sandbox-error-500')
  await askChat(node.baseUrl, customer.secret, failing, { 'x-svc-session-id': sessionId })

  const { events, next_cursor, archived_before, ...session } = await get(
    customer,
    pathOf(sessionId),
  )
  assert.deepEqual([next_cursor, archived_before], [null, null])
  assert.deepEqual(
    events.map((event: { cost_billed_brl: string }) => event.cost_billed_brl),
    billed,
    'in the order of the calls',
  )
  const account = db.selectFrom('usage_events').select('cost_billed_nano_brl')
  const rows = await account.where('session_id', '=', sessionId).execute()
  const total = rows.reduce((sum, row) => sum + row.cost_billed_nano_brl, 0n)
  assert.equal(BigInt(Math.round(Number(session.total_billed_brl) * 1e9)), total)
  assert.deepEqual(
    { ...session, total_billed_brl: 0 },
    {
      session_id: sessionId,
      request_count: '3',
      total_billed_brl: 0,
    },
  )

  const { sessions, ...list } = await get(customer, '/me/sessions')
  assert.deepEqual(list, { days: '30', count: '1', next_cursor: null })
  const sum = (name: string): string =>
    String(events.reduce((sum: number, event: any) => sum + Number(event[name]), 0))
  const [prompt, completion] = [sum('prompt_tokens'), sum('completion_tokens')]
  assert.deepEqual(sessions, [
    {
      session_id: sessionId,
      request_count: '3',
      total_billed_brl: session.total_billed_brl,
      total_prompt_tokens: prompt,
      total_completion_tokens: completion,
      total_tokens: String(Number(prompt) + Number(completion)),
      models: ['gpt-4o', 'sandbox-chat'],
      first_request_at: events[0].created_at,
      last_request_at: events[2].created_at,
      duration_ms: String(Date.parse(events[2].created_at) - Date.parse(events[0].created_at)),
    },
  ])
  await assertAudit(database)
})

for (const timezone of ['America/Sao_Paulo', 'Asia/Kolkata']) {
  test(`the last days begin at midnight in ${timezone}, and the last request counts`, async () => {
    const customer = await newCustomer(timezone)
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone }).format(new Date())
    const offset = timezone === 'Asia/Kolkata' ? '+05:30' : '-03:00'
    const midnight = Date.parse(`${day}T00:00:00${offset}`) - 2 * 86_400_000
    const before = `${new Date(midnight - 1).toISOString().slice(0, 23)}999Z`
    await customer.seed([
      use('before', { at: before }),
      use('at', { at: new Date(midnight) }),
      use('over', { at: before }),
      use('over', { at: new Date(midnight + 1) }),
      use('now'),
    ])
    const { sessions, days } = await get(customer, '/me/sessions?days=3')
    // The day may have changed meanwhile.
    if (new Intl.DateTimeFormat('sv-SE', { timeZone: timezone }).format(new Date()) !== day) return
    assert.equal(days, '3')
    const names = sessions.map((session: { session_id: string }) => session.session_id)
    assert.deepEqual(names, ['now', 'over', 'at'])
    assert.equal(sessions[1].request_count, '2')
    assert.equal((await get(customer, '/me/sessions?days=4')).count, '4')
  })
}

test('pages of sessions contain each session once, even if their times are equal', async () => {
  const customer = await newCustomer()
  const now = new Date(Date.now() - 60_000).toISOString().slice(0, 20)
  const names = Array.from({ length: 25 }, (_, index) => `s${index}/%?`)
  await customer.seed(
    names.map((name, index) => use(name, { at: `${now}12345${Math.floor(index / 10)}Z` })),
  )
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/me/sessions?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page = await get(customer, path)
    assert.equal(page.count, String(page.sessions.length))
    seen.push(...page.sessions.map((session: { session_id: string }) => session.session_id))
    cursor = page.next_cursor
    await customer.seed([use(`new-${seen.length}`)])
  }
  assert.deepEqual(seen.toSorted(), names.toSorted())
  assert.ok(
    seen.slice(0, 5).every((name) => names.indexOf(name) >= 20),
    'the newest first',
  )
})

test('pages of a session go over its charges in the order of time, whatever its length', async () => {
  const customer = await newCustomer()
  // Over months, and many within one millisecond.
  const at = [
    '2026-01-31T23:59:59.999999Z',
    '2026-02-01T00:00:00.000001Z',
    '2026-05-01T00:00:00.0000015Z',
  ]
  const seeded = await customer.seed(
    Array.from({ length: 1_002 }, (_, index) =>
      use('s', { at: at[index % 3] as string, billed: 7n }),
    ),
  )
  await customer.seed([use('t', { at: at[0] as string })])
  const inOrder = [0, 1, 2].flatMap((n) => idsOf(seeded.filter((_, index) => index % 3 === n)))

  const whole = await get(customer, pathOf('s'))
  assert.deepEqual(idsOf(whole.events), inOrder.slice(0, 1_000))
  const rest = await get(customer, `${pathOf('s')}?cursor=${whole.next_cursor}`)
  assert.deepEqual(idsOf(rest.events), inOrder.slice(1_000))
  assert.equal(rest.next_cursor, null)
  for (const page of [whole, rest]) {
    assert.equal(page.request_count, '1002', 'of the whole session')
    assert.equal(page.total_billed_brl, '0.000007014')
  }
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await get(customer, `${pathOf('s')}?limit=99${cursor && `&cursor=${cursor}`}`)
    seen.push(...idsOf(page.events))
    cursor = page.next_cursor
    await customer.seed([use('s')])
  }
  assert.deepEqual(seen.slice(0, 1_002), inOrder)
})

test('a session is found by every name that a call may give it', async () => {
  const customer = await newCustomer()
  const visible = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) =>
    String.fromCharCode(0x21 + index),
  )
  const names = [
    ...visible.map((character) => `a${character}b`),
    ...visible.filter((character) => character !== '.'),
    '/'.repeat(80),
    '%'.repeat(80),
    'x/',
    '%2F',
    '%252f',
    '..%2f',
    'a;b=c',
    '?limit=0',
    "'; drop table usage_events; --",
  ].map((name) => name.replaceAll(' ', '_'))
  await customer.seed(names.map((name) => use(name)))
  for (const name of names) {
    const session = await get(customer, pathOf(name))
    assert.equal(session.session_id, name)
    assert.equal(session.request_count, '1', name)
  }
})

test('an unknown name, or a name that no session can have, is not found', async () => {
  const customer = await newCustomer()
  const other = await newCustomer()
  await other.seed([use('theirs')])
  for (const name of [
    'none',
    'theirs',
    ' ',
    'é',
    'a b',
    '\u0000',
    'x'.repeat(80),
    '🙂'.repeat(20),
  ]) {
    const answer = await ask(node.baseUrl, pathOf(name), customer)
    assert.equal(answer.status, 404, name)
    assert.deepEqual(answer.json, { error: 'session_not_found' })
  }
  const tooLong = await ask(node.baseUrl, pathOf('x'.repeat(81)), customer)
  assert.equal(tooLong.status, 400)
  assert.match(tooLong.json.details, /^id: /)
  assert.deepEqual((await get(customer, '/me/sessions')).sessions, [])
})

test('a session whose calls all failed is not listed', async () => {
  const customer = await newCustomer()
  await customer.seed([use('s', { outcome: 'released' })])
  assert.equal((await ask(node.baseUrl, pathOf('s'), customer)).status, 404)
})

test('cursors that no page gave are refused', async () => {
  const customer = await newCustomer()
  await customer.seed([use('s')])
  const written = (text: string): string => Buffer.from(text).toString('base64url')
  const id = randomUUID()
  for (const cursor of [
    'x',
    '%00',
    written(`2026-02-30T00:00:00.000000Z/${id}`),
    written(`0000-01-01T00:00:00.000000Z/${id}`),
    written(`2026-01-01T24:00:00.000000Z/${id}`),
    written(`2026-01-01T00:00:00.000Z/${id}`),
    written('2026-01-01T00:00:00.000000Z/\u0000'),
    written(`2026-01-01T00:00:00.000000Z/${'x'.repeat(90)}`),
    written(`2026-01-01T00:00:00.000000Z/${id}\n`),
  ]) {
    for (const path of ['/me/sessions', pathOf('s'), '/usage/events']) {
      const answer = await ask(node.baseUrl, `${path}?cursor=${cursor}`, customer)
      assert.equal(answer.status, 400, `${path}: ${Buffer.from(cursor, 'base64url').toString()}`)
      assert.equal(answer.json.error, 'invalid_request')
    }
  }
})
