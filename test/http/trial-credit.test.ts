/** The trial credit over HTTP: who asks, from which browser. The rules themselves: test/payments/trial-credit.test.ts. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, credentialHeaders } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedPayer } from '../harness/payer.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'

const gateway = await startGateway({ TRIAL_CREDIT_BRL: '7' })
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl, dataDir } = gateway.node

const PATH = '/me/trial-credit'

test('the browser of a customer who took the credit brings none to a second account', async () => {
  const first = await seedPayer(db, '52998224725')
  const second = await seedPayer(db, '11144477735')
  const sessions = {
    first: await openSession({ db, dataDir }, first.customerId),
    second: await openSession({ db, dataDir }, second.customerId),
  }
  const page = await ask(baseUrl, '/session', { secret: sessions.first })
  const [device = ''] = page.headers.getSetCookie()[0]?.split(';') ?? []
  assert.match(device, /device=/)
  /** As the one browser of both sends it. */
  const asIn = (session: string) => {
    const { cookie, ...headers } = credentialHeaders(session)
    return { ...headers, cookie: `${cookie}; ${device}` }
  }
  const offered = await ask(baseUrl, PATH, { headers: asIn(sessions.first) })
  assert.deepEqual(offered.json, { status: 'offered', amount_brl: 7, granted_at: null })
  const granted = await ask(baseUrl, PATH, { method: 'POST', headers: asIn(sessions.first) })
  assert.deepEqual([granted.status, granted.json.status], [201, 'granted'], granted.text)
  const balance = await ask(baseUrl, '/usage', { headers: asIn(sessions.first) })
  assert.equal(balance.json.balance.balance_brl, 7)

  const refused = await ask(baseUrl, PATH, { method: 'POST', headers: asIn(sessions.second) })
  assert.deepEqual([refused.status, refused.json.error], [409, 'trial_credit_used'])
  // Another browser: nothing connects the two.
  const other = await ask(baseUrl, PATH, { method: 'POST', secret: sessions.second })
  assert.equal(other.status, 201)
})

test('a browser that four more accounts used since brings none to the last of them', async () => {
  const cpfs = [
    '15350946056',
    '86288366757',
    '71460238001',
    '29537995593',
    '40442820135',
    '16899535009',
  ]
  let device = ''
  const statuses: number[] = []
  for (const [place, cpf] of cpfs.entries()) {
    const { customerId } = await seedPayer(db, cpf)
    const session = await openSession({ db, dataDir }, customerId)
    const { cookie, ...rest } = credentialHeaders(session)
    const headers = (): Record<string, string> => ({ ...rest, cookie: `${cookie}; ${device}` })
    const page = await ask(baseUrl, '/session', { headers: headers() })
    device = page.headers.getSetCookie()[0]?.split(';')[0] ?? device
    // Only the first and the last account ask.
    if (place > 0 && place < cpfs.length - 1) continue
    statuses.push((await ask(baseUrl, PATH, { method: 'POST', headers: headers() })).status)
  }
  assert.deepEqual(statuses, [201, 409])
})

test('a key of models and of self-service cannot take it, and a cookie alone cannot', async () => {
  const { customerId } = await seedPayer(db, '39053344705')
  for (const scope of ['calls', 'account'] as const) {
    const { secret } = await createApiKey(db, {
      name: 'chave',
      scope,
      customerId,
      requestsPerMinute: 120,
    })
    assert.equal((await ask(baseUrl, PATH, { method: 'POST', secret })).status, 403)
  }
  const session = await openSession({ db, dataDir }, customerId)
  const { cookie = '' } = credentialHeaders(session)
  const forged = await ask(baseUrl, PATH, { method: 'POST', headers: { cookie } })
  assert.equal(forged.status, 403)
  assert.equal((await ask(baseUrl, PATH, { secret: session })).json.status, 'offered')
})

test('an idempotency key on each try spares none of the tries of a day', async () => {
  // The CPF of the customer who took the credit above.
  const prober = await seedPayer(db, '52998224725')
  const secret = await openSession({ db, dataDir }, prober.customerId)
  const answers: string[] = []
  for (let tries = 0; tries < 7; tries += 1) {
    const headers = { 'idempotency-key': `try-${tries}` }
    answers.push((await ask(baseUrl, PATH, { method: 'POST', secret, headers })).json.error)
  }
  assert.deepEqual(answers, [
    ...Array<string>(5).fill('trial_credit_used'),
    'trial_credit_exhausted',
    'trial_credit_exhausted',
  ])
})
