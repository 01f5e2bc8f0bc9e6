// deep: an attack
/** Card testing: a thief tries stolen cards with many new accounts, of one network or of many. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sha256 } from '../../src/platform/lib/ids.ts'
import { CARD_LIMITS } from '../../src/money/payments/card-attempts.ts'
import { ask, credentialHeaders, type Asked } from '../harness/ask.ts'
import { APPROVED, cardBody, DECLINED, DECLINED_LATER } from '../harness/cards.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startLocalNode } from '../harness/local-node.ts'
import { openSession } from '../harness/open-session.ts'
import { seedPayer, type Payer } from '../harness/payer.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'

let gateway: TestGateway
before(async () => {
  gateway = await startGateway({ TRUST_PROXY: '127.0.0.1', METRICS_TOKEN: 'ficha' })
})
after(() => gateway.stop())

let networks = 0
function freshNetwork(): string {
  networks += 1
  return `198.18.${networks}.7`
}

function newPayers(count: number): Promise<Payer[]> {
  return Promise.all(Array.from({ length: count }, () => seedPayer(gateway.database.db)))
}

function tryCard(
  secret: string,
  number: string,
  ip: string,
  baseUrl = gateway.node.baseUrl,
): Promise<Asked> {
  const headers = { 'x-forwarded-for': ip }
  return ask(baseUrl, '/payment-methods', { secret, body: cardBody(number), headers })
}

/** How many the processor was asked about. */
function tried(answers: readonly Asked[]): number {
  const refused = answers.filter(({ json }) => json.error === 'too_many_rejected_cards')
  for (const { status, headers } of refused) {
    assert.equal(status, 429)
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
  const unknown = answers.filter(({ status }) => status >= 500)
  assert.deepEqual(
    unknown.map(({ text }) => text),
    [],
  )
  return answers.length - refused.length
}

async function suspicions(): Promise<number> {
  const { text } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', {
    headers: { authorization: 'Bearer ficha' },
  })
  const line = /event="card_testing_suspected"[^}]*\} (\d+)/.exec(text)
  return Number(line?.[1])
}

for (const [what, number, max] of [
  ['refused', DECLINED, CARD_LIMITS.near.refused.max],
  ['accepted', APPROVED, CARD_LIMITS.near.all.max],
] as const)
  test(`eight new accounts at one address try no more ${what} cards than one network may, on any node, at once`, async () => {
    const { database, node } = gateway
    const ip = freshNetwork()
    const other = await startLocalNode({
      databaseUrl: database.databaseUrl,
      env: { TRUST_PROXY: '127.0.0.1' },
    })
    try {
      const payers = await newPayers(8)
      const answers: Asked[] = []
      await Promise.all(
        payers.map(async ({ secret }, place) => {
          const { baseUrl } = place % 2 ? other : node
          for (let tries = 0; tries < 10; tries++)
            answers.push(await tryCard(secret, number, ip, baseUrl))
        }),
      )
      assert.equal(tried(answers), max)
      const [fresh] = await newPayers(1)
      assert.equal(tried([await tryCard(fresh?.secret ?? '', APPROVED, ip)]), 0)
      const elsewhere = await tryCard(fresh?.secret ?? '', APPROVED, freshNetwork())
      assert.equal(elsewhere.status, 201, elsewhere.text)
    } finally {
      await other.stop()
      await other.remove()
    }
  })

test('charges of saved cards count as tries, whatever the issuer says', async () => {
  const { baseUrl } = gateway.node
  const ip = freshNetwork()
  const answers: Asked[] = []
  for (const { secret } of await newPayers(8)) {
    const { json: card } = await tryCard(secret, DECLINED_LATER, freshNetwork())
    for (let charges = 0; charges < 4; charges++) {
      const body = { amount: 20, method: 'card', payment_method_id: card.id }
      const headers = { 'x-forwarded-for': ip }
      answers.push(await ask(baseUrl, '/topups', { secret, body, headers }))
    }
  }
  assert.equal(tried(answers), CARD_LIMITS.near.refused.max)
})

test('one browser tries no more cards than its limit, with many accounts over many networks', async () => {
  const { database, node } = gateway
  const at = { db: database.db, dataDir: node.dataDir }
  const answers: Asked[] = []
  let device = ''
  for (const { customerId } of await newPayers(5)) {
    const secret = await openSession(at, customerId)
    const { cookie, ...csrf } = credentialHeaders(secret)
    const own = await ask(node.baseUrl, '/session', { headers: { cookie: `${cookie}; ${device}` } })
    device =
      own.headers
        .getSetCookie()
        .find((each) => each.includes('.device='))
        ?.split(';')[0] ?? ''
    assert.notEqual(device, '')
    for (let tries = 0; tries < 5; tries++)
      answers.push(
        await ask(node.baseUrl, '/payment-methods', {
          headers: { ...csrf, cookie: `${cookie}; ${device}`, 'x-forwarded-for': freshNetwork() },
          body: cardBody(DECLINED),
        }),
      )
  }
  assert.equal(tried(answers), CARD_LIMITS.device.all.max)
})

test('a customer who registers and deletes accepted cards is limited over all networks', async () => {
  const { baseUrl } = gateway.node
  const [payer] = await newPayers(1)
  const secret = payer?.secret
  const answers: Asked[] = []
  for (let tries = 0; tries < CARD_LIMITS.customer.all.max + 2; tries++) {
    const answer = await tryCard(secret ?? '', APPROVED, freshNetwork())
    answers.push(answer)
    if (answer.status === 201)
      await ask(baseUrl, `/payment-methods/${answer.json.id}`, { secret, method: 'DELETE' })
  }
  assert.equal(tried(answers), CARD_LIMITS.customer.all.max)
})

test('all new customers together are limited, with an alarm; who has paid before is not held back', async () => {
  const { db } = gateway.database
  const [newcomer, known] = await newPayers(2)
  assert.ok(newcomer && known)
  await seedPaidTopUp(db, { customerId: known.customerId, cents: 2_000 })
  const count = db
    .updateTable('sign_in_attempts')
    .where('key_hash', '=', sha256('cards of newcomers'))
  await tryCard(newcomer.secret, APPROVED, freshNetwork())
  await count.set({ tries: CARD_LIMITS.newcomers.all.max }).execute()
  const before = await suspicions()
  assert.equal(tried([await tryCard(newcomer.secret, APPROVED, freshNetwork())]), 0)
  assert.equal(await suspicions(), before + 1)
  assert.equal((await tryCard(known.secret, APPROVED, freshNetwork())).status, 201)
})
