// deep: every charge of a chain, changed in any part
/** Bills that customers show to others, and the chain by which anybody can check them. */
import assert from 'node:assert/strict'
import crypto, { hash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { CHARGES_MAX, readPublicBill } from '../../src/money/public-bills/read-public-bill.ts'
import { shownBillBody } from '../../src/site/public-bills/shown-bill-routes.ts'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.now()
const NONE = '01900000-0000-7000-8000-000000000000'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node

interface Charged {
  readonly customerId: string
  readonly secret: string
  readonly ids: readonly string[]
}

/** One charge for each of these numbers of days ago; those of `sessionId` are one session. */
async function seedCharges(daysAgo: readonly number[], sessionId = 'conversa'): Promise<Charged> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  const events = await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: daysAgo.map((days, index) => ({
      at: new Date(NOW_MS - days * DAY_MS),
      modelId: 'gpt-4o',
      promptTokens: 100 + index,
      completionTokens: 7,
      sessionId,
    })),
  })
  return { customerId, secret, ids: events.map(({ id }) => id) }
}

interface Shown {
  readonly kind: string
  readonly charges: readonly {
    readonly text: string
    readonly proof: {
      readonly seal: number
      readonly path: readonly { readonly side: string; readonly hash: string }[]
      readonly head: string
    } | null
  }[]
  readonly days: readonly {
    readonly day: string
    readonly before: string
    readonly seals: readonly {
      readonly number: number
      readonly from: string
      readonly to: string
      readonly root: string
    }[]
    readonly head: string
  }[]
}

/** Settled in the past, and sealed. */
let talk: Charged
let one: Charged
let another: Charged
/** Many charges of one seal. */
let many: Charged

before(async () => {
  talk = await seedCharges([2, 2, 1, 0])
  one = await seedCharges([3])
  another = await seedCharges([3])
  await seedCharges([5, 4, 1, 0])
  many = await seedCharges(Array.from({ length: CHARGES_MAX }, () => 6))
  await sql`update usage_events set settled_at = created_at`.execute(db)
  await sealUsage(db)
})

const open = (secret: string, body: object) => ask(baseUrl, '/me/public-bills', { secret, body })

const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)

async function readBill(token: string): Promise<Shown> {
  const { status, json, text } = await ask(baseUrl, `/public-bills/${token}`)
  assert.equal(status, 200, text)
  return json as Shown
}

const sha256 = (kind: number, ...parts: readonly Buffer[]): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from([kind]), ...parts]), 'buffer')
const hex = (text: string): Buffer => Buffer.from(text, 'hex')
const utf8 = (text: string): Buffer => Buffer.from(text)

/** The steps that docs/public-bills.md describes; the ids of the charges that the chain proves. */
function provedBy(bill: Shown, heads: ReadonlyMap<string, string>): string[] {
  return bill.charges.flatMap(({ text, proof }) => {
    const charge = JSON.parse(text) as { id: string; settled_at: string }
    const day = bill.days.find((one) => one.day === charge.settled_at.slice(0, 10))
    if (!proof || !day) return []
    const root = proof.path.reduce(
      (node, step) =>
        step.side === 'left' ? sha256(1, hex(step.hash), node) : sha256(1, node, hex(step.hash)),
      sha256(0, utf8(text)),
    )
    const seal = day.seals.find(({ number }) => number === proof.seal)
    const head = day.seals.reduce(
      (last, { number, from, to, root: of }) =>
        sha256(2, last, hex(of), utf8(`${number}|${from}|${to}`)),
      hex(day.before),
    )
    const isProved =
      seal?.root === root.toString('hex') &&
      head.toString('hex') === day.head &&
      heads.get(day.day) === day.head &&
      proof.head === day.head
    return isProved ? [charge.id] : []
  })
}

async function publishedHeads(): Promise<Map<string, string>> {
  const { json } = await ask(baseUrl, '/charge-chain?limit=366')
  return new Map((json.days as { day: string; head: string }[]).map(({ day, head }) => [day, head]))
}

test('a bill proves its charges to whom has no other access, once their day is over', async () => {
  const { secret, ids } = talk
  const { json } = await open(secret, { session_id: 'conversa' })
  const bill = await readBill(tokenOf(json.url))
  assert.equal(bill.kind, 'session')
  assert.deepEqual(
    bill.charges.map(({ text }) => (JSON.parse(text) as { id: string }).id).toSorted(),
    [...ids].toSorted(),
  )
  // The charge of today has no proof yet.
  assert.deepEqual(provedBy(bill, await publishedHeads()).toSorted(), ids.slice(0, 3).toSorted())
  assert.equal(bill.charges.filter(({ proof }) => proof === null).length, 1)
  // A proof is made once, and stays.
  assert.deepEqual(await readBill(tokenOf(json.url)), bill)
  for (const { text } of bill.charges) {
    for (const unknown of ['conversa', talk.customerId]) assert.ok(!text.includes(unknown))
    const charge = JSON.parse(text)
    const cost = BigInt(charge.cost_upstream_pico_usd)
    const billed =
      (cost * BigInt(charge.fx_rate_e4) * BigInt(charge.markup_e4) + 50_000_000_000n) /
      100_000_000_000n
    assert.equal(charge.cost_billed_nano_brl, String(billed))
  }
})

test('the proofs of all charges of a seal cost one tree', async () => {
  const { json } = await open(many.secret, { session_id: 'conversa' })
  const own = crypto.hash
  let hashes = 0
  crypto.hash = ((...data: Parameters<typeof own>) => {
    hashes += 1
    return own(...data)
  }) as typeof own
  syncBuiltinESMExports()
  let bill: Awaited<ReturnType<typeof readPublicBill>>
  try {
    bill = await readPublicBill(db, tokenOf(json.url))
  } finally {
    crypto.hash = own
    syncBuiltinESMExports()
  }
  assert.equal(bill?.charges.filter(({ proof }) => proof).length, CHARGES_MAX)
  // Each node above the leaves once.
  assert.equal(hashes, CHARGES_MAX - 1)
})

test('a bill of very many seals shows the charges of its first days, and says that there are more', async () => {
  const { json } = await open(talk.secret, { session_id: 'conversa' })
  const token = tokenOf(json.url)
  const whole = await readPublicBill(db, token)
  assert.deepEqual([whole?.charges.length, whole?.hasMore], [4, false])
  const sealsOf = (bill: typeof whole): number =>
    bill?.chains.reduce((sum, { seals }) => sum + seals.length, 0) ?? 0
  for (let sealsMax = 0; sealsMax < sealsOf(whole); sealsMax++) {
    const bill = await readPublicBill(db, token, { sealsMax })
    assert.ok(bill?.hasMore)
    // The first day has two charges, and is always shown.
    assert.ok(bill.charges.length >= 2)
    assert.deepEqual(bill.charges, whole?.charges.slice(0, bill.charges.length))
    assert.ok(sealsOf(bill) <= sealsMax || bill.chains.length === 1)
    const proved = provedBy(shownBillBody(bill) as Shown, await publishedHeads())
    assert.equal(proved.length, Math.min(3, bill.charges.length))
  }
})

test('a past charge that is changed in any part fails its own proof and the audit', async () => {
  const { secret, ids } = one
  const { json } = await open(secret, { usage_event_id: ids[0] })
  const token = tokenOf(json.url)
  const heads = await publishedHeads()
  assert.deepEqual(provedBy(await readBill(token), heads), ids)
  const changes = {
    customer_id: sql`update usage_events set customer_id = ${another.customerId} where id = ${ids[0]}`,
    request_id: sql`update usage_events set request_id = ${NONE} where id = ${ids[0]}`,
    ...Object.fromEntries(
      [
        'prompt_tokens = prompt_tokens + 1',
        'completion_tokens = completion_tokens - 1',
        'cached_tokens = cached_tokens + 1',
        `model_id = 'gpt-5'`,
        `usage_kind = 'estimated'`,
        `units = '{"images": 1}'`,
        'cost_upstream_pico_usd = cost_upstream_pico_usd + 1',
        'fx_rate_e4 = fx_rate_e4 + 1',
        'markup_e4 = markup_e4 - 1',
        'cost_billed_nano_brl = cost_billed_nano_brl + 1',
        `settled_at = settled_at + interval '1 microsecond'`,
        'api_key_id = gen_random_uuid()',
      ].map((change) => [
        change,
        sql`update usage_events set ${sql.raw(change)} where id = ${ids[0]}`,
      ]),
    ),
  }
  for (const [change, statement] of Object.entries(changes))
    await inTransaction(db, async (trx) => {
      await statement.execute(trx)
      // Also where the bill's own row is made to follow.
      if (change === 'customer_id')
        await sql`update public_bills set customer_id = ${another.customerId} where token = ${token}`.execute(
          trx,
        )
      const bill = await readPublicBill(trx, token)
      assert.deepEqual(bill ? provedBy(shownBillBody(bill) as Shown, heads) : [], [], change)
      assert.deepEqual(await brokenSeals(trx), SEALED, change)
      throw new Undone()
    }).catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  assert.deepEqual(provedBy(await readBill(token), heads), ids)
})

const SEALED = ['sealed events are as they were sealed', 'the tree of a seal is that of its events']

/** The checks on seals that fail. */
async function brokenSeals(trx: Database): Promise<string[]> {
  const { checks } = await audit(trx, {}, { eventsAgain: 100_000 })
  return checks.flatMap(({ ok, name }) => (!ok && SEALED.includes(name) ? [name] : [])).toSorted()
}

class Undone extends Error {}

test('a customer opens a bill to others, once for each charge and session, and closes it at once', async () => {
  const { secret, customerId, ids } = await seedCharges([1])
  const made = await Promise.all(
    Array.from({ length: 8 }, () => open(secret, { usage_event_id: ids[0] })),
  )
  for (const { status, json } of made)
    assert.deepEqual([status, json.url], [201, made[0]?.json.url])
  const session = await open(secret, { session_id: 'conversa' })
  assert.equal(session.status, 201)
  const { json } = await ask(baseUrl, '/me/public-bills', { secret })
  assert.deepEqual(
    json.public_bills.map((bill: { id: string }) => bill.id),
    [session.json.id, made[0]?.json.id],
  )
  const token = tokenOf(made[0]?.json.url)
  assert.equal((await readBill(token)).charges.length, 1)
  const path = `/me/public-bills/${made[0]?.json.id}`
  const stranger = await seedCharges([1])
  const strange = await ask(baseUrl, path, { method: 'DELETE', secret: stranger.secret })
  assert.deepEqual([strange.status, strange.json.error], [404, 'public_bill_not_found'])
  assert.equal((await ask(baseUrl, path, { method: 'DELETE', secret })).status, 200)
  for (const gone of [token, 'x', 'x'.repeat(32), tokenOf(session.json.url).toLowerCase()]) {
    const answer = await ask(baseUrl, `/public-bills/${gone}`)
    assert.deepEqual([answer.status, answer.json.error], [404, 'public_bill_not_found'])
  }
  const acts = await db
    .selectFrom('audit_log')
    .select('action')
    .where('customer_id', '=', customerId)
    .where('action', 'like', 'public_bill.%')
    .orderBy('id')
    .execute()
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['public_bill.created', 'public_bill.created', 'public_bill.deleted'],
  )
})

test("a bill of nothing, or of another customer's charge, cannot be opened", async () => {
  const { secret } = await seedCharges([1], 'minha')
  const other = await seedCharges([1], 'alheia')
  for (const [body, error] of [
    [{ usage_event_id: other.ids[0] }, 'usage_event_not_found'],
    [{ usage_event_id: NONE }, 'usage_event_not_found'],
    [{ session_id: 'alheia' }, 'session_not_found'],
  ] as const) {
    const refused = await open(secret, body)
    assert.deepEqual([refused.status, refused.json.error], [404, error])
  }
  assert.deepEqual((await ask(baseUrl, '/me/public-bills', { secret })).json.public_bills, [])
})

test('an account has at most a thousand public bills; a closed one makes room', async () => {
  const { secret, customerId } = await seedCharges([0])
  await sql`
    insert into public_bills (id, token, customer_id, usage_event_id)
    select gen_random_uuid(), 'z' || lpad(n::text, 31, '0'), ${customerId}, gen_random_uuid()
    from generate_series(1, 1000) n`.execute(db)
  const refused = await open(secret, { session_id: 'conversa' })
  assert.deepEqual([refused.status, refused.json.error], [409, 'too_many_public_bills'])
  const { json } = await ask(baseUrl, '/me/public-bills?limit=1', { secret })
  const path = `/me/public-bills/${json.public_bills[0].id}`
  assert.equal((await ask(baseUrl, path, { method: 'DELETE', secret })).status, 200)
  assert.equal((await open(secret, { session_id: 'conversa' })).status, 201)
})

test('the bills of an account end with its deletion, before its rows are erased', async () => {
  const { secret, customerId } = await seedCharges([0])
  const { json } = await open(secret, { session_id: 'conversa' })
  assert.equal((await readBill(tokenOf(json.url))).charges.length, 1)
  await sql`update customers set deleted_at = now() where id = ${customerId}`.execute(db)
  const answer = await ask(baseUrl, `/public-bills/${tokenOf(json.url)}`)
  assert.deepEqual([answer.status, answer.json.error], [404, 'public_bill_not_found'])
})

test('the chain has one head for each finished day, and its pages continue each other', async () => {
  const all = (await ask(baseUrl, '/charge-chain?limit=366')).json.days
  const days: string[] = all.map(({ day }: { day: string }) => day)
  assert.deepEqual(days, [...new Set(days)].toSorted().toReversed())
  const today = new Date().toISOString().slice(0, 10)
  assert.ok(days.length >= 4 && !days.includes(today))
  const paged: unknown[] = []
  for (let before = '2999-01-01'; ;) {
    const { json } = await ask(baseUrl, `/charge-chain?limit=2&before=${before}`)
    if (json.days.length === 0) break
    paged.push(...json.days)
    before = json.days.at(-1).day
  }
  assert.deepEqual(paged, all)
})

test('who rewrites the chain after a change has other heads than the published ones', async () => {
  const { json } = await open(one.secret, { usage_event_id: one.ids[0] })
  const published = await publishedHeads()
  assert.deepEqual(provedBy(await readBill(tokenOf(json.url)), published), one.ids)
  await sql`update usage_events set prompt_tokens = 1 where id = ${one.ids[0]}`.execute(db)
  await sql`delete from audit_seal_sums`.execute(db)
  await sql`delete from audit_seals`.execute(db)
  await sealUsage(db)
  assert.deepEqual(await brokenSeals(db), [])
  assert.deepEqual(provedBy(await readBill(tokenOf(json.url)), published), [])
  const rewritten = await publishedHeads()
  const threeDaysAgo = new Date(NOW_MS - 3 * DAY_MS).toISOString().slice(0, 10)
  assert.deepEqual(provedBy(await readBill(tokenOf(json.url)), rewritten), [], 'by its own proof')
  for (const [day, head] of rewritten)
    assert.equal(head === published.get(day), day < threeDaysAgo, day)
})
