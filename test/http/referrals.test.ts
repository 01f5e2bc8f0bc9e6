/** Referral codes: generated once, given when an account is created, and shown without names. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createCustomer, type Customer } from '../../src/customers/customers.ts'
import { refer } from '../../src/customers/referrals.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { runCli, type RanCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway({ PUBLIC_URL: 'https://ia.example.com' })
after(() => gateway.stop())
const { db, databaseUrl } = gateway.database
const { baseUrl } = gateway.node

async function referralsOf(secret: string, query = ''): Promise<any> {
  const { status, json, text } = await ask(baseUrl, `/me/referrals${query}`, { secret })
  assert.equal(status, 200, text)
  return json
}

async function newCustomer(name: string): Promise<Customer> {
  const customer = await createCustomer(db, { name })
  if ('kind' in customer) throw new Error(customer.kind)
  return customer
}

function bring(customerId: string, code: string): ReturnType<typeof refer> {
  return db.transaction().execute((trx) => refer(trx, { customerId, code }))
}

test('a referral code is created at its first read, once, and has no ambiguous characters', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  const looks = await Promise.all(Array.from({ length: 10 }, () => referralsOf(secret)))
  const codes = new Set(looks.map(({ referral_code }) => referral_code))
  assert.equal(codes.size, 1)
  const [code] = codes
  assert.match(code, /^[2-9A-HJ-NP-Z]{8}$/)
  assert.ok(looks[0].share_text.includes(code))
  assert.ok(looks[0].share_text.includes('https://ia.example.com'))
  const other = await seedCustomer(db, { balanceBrl: '0' })
  assert.notEqual((await referralsOf(other.secret)).referral_code, code)
  assert.deepEqual(looks[0], {
    referral_code: code,
    share_text: looks[0].share_text,
    reward_rule: { reward_brl: 10, withdrawal_days: 7, spending_min_brl: 20 },
    referred_users: [],
    next_cursor: null,
    statistics: { registered: 0, rewarded: 0, total_reward_brl: 0 },
  })
})

test('a referral is recorded once, in any spelling of its code, and shows only a first letter', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const { referral_code: code } = await referralsOf(secret)
  const maria = await newCustomer('maria da Silva')
  const written = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `
  const answers = await Promise.all(Array.from({ length: 5 }, () => bring(maria.id, written)))
  assert.deepEqual(answers.map(({ kind }) => kind).sort(), [
    ...Array.from({ length: 4 }, () => 'already_referred'),
    'recorded',
  ])
  assert.equal((await bring(customerId, code)).kind, 'own_code')
  assert.equal((await bring((await newCustomer('João')).id, 'NOBODY22')).kind, 'code_not_found')
  const rival = await seedCustomer(db, { balanceBrl: '0' })
  const rivalCode = (await referralsOf(rival.secret)).referral_code
  assert.equal((await bring(maria.id, rivalCode)).kind, 'already_referred')

  const answer = await referralsOf(secret)
  assert.equal(answer.referred_users.length, 1)
  const { registered_at, ...user } = answer.referred_users[0]
  assert.ok(Math.abs(Date.parse(registered_at) - Date.now()) < 60_000)
  assert.deepEqual(user, {
    name: 'M•••',
    status: 'registered',
    rewarded_at: null,
    reward_brl: null,
    taken_back_brl: null,
  })
  assert.doesNotMatch(JSON.stringify(answer), /Silva/)
  assert.ok(!JSON.stringify(answer).includes(maria.id))
  assert.equal((await referralsOf(rival.secret)).statistics.registered, 0)
})

test('statistics count the referred customers and their payments, with exact amounts', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const { referral_code: code } = await referralsOf(secret)
  const came = await Promise.all(['Ana', 'Bia', 'Caio'].map(newCustomer))
  for (const { id } of came) await bring(id, code)
  await sql`update referrals set rewarded_at = now(), reward_nano_brl = 10000000001
    where referrer_id = ${customerId} and customer_id <> ${came[0]?.id}`.execute(db)
  const { text, json } = await ask(baseUrl, '/me/referrals', { secret })
  assert.deepEqual([json.statistics.registered, json.statistics.rewarded], [3, 2])
  assert.match(text, /"total_reward_brl":20\.000000002\}/)
  assert.deepEqual(
    json.referred_users.map(({ name, status }: Record<string, string>) => `${name} ${status}`),
    ['C••• rewarded', 'B••• rewarded', 'A••• registered'],
  )
  const first = await referralsOf(secret, '?limit=2')
  const rest = await referralsOf(secret, `?limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual([...first.referred_users, ...rest.referred_users], json.referred_users)
  assert.equal(rest.next_cursor, null)
  for (const query of ['?limit=0', '?limit=201', '?cursor=x'])
    assert.equal((await ask(baseUrl, `/me/referrals${query}`, { secret })).status, 400, query)
})

test('a deleted account shows no letter, and its code is no longer accepted', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  const { referral_code: code } = await referralsOf(secret)
  const gone = await seedCustomer(db, { balanceBrl: '0' })
  const { referral_code: goneCode } = await referralsOf(gone.secret)
  await bring(gone.customerId, code)
  await deleteAccount(db, OPERATOR, { customerId: gone.customerId, waiveBalance: false })
  const { referred_users, statistics } = await referralsOf(secret)
  assert.deepEqual([referred_users.length, referred_users[0].name], [1, null])
  assert.equal(statistics.registered, 1)
  assert.equal((await bring((await newCustomer('Zé')).id, goneCode)).kind, 'code_not_found')
})

test('the operator creates a customer by a referral code; an unknown code creates none', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const { referral_code: code } = await referralsOf(secret)
  const email = `${createId()}@example.com`
  const create = ['customer', 'create', '--name', 'Rita', '--email', email, '--json']
  const refused = await catraca(...create, '--referral-code', 'NOBODY22')
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--referral-code/)
  const made = await catraca(...create, '--referral-code', code.toLowerCase())
  assert.equal(made.code, 0, made.stderr)
  const { id } = JSON.parse(made.stdout)
  const credited = await catraca(
    'customer',
    'credit',
    id,
    '--amount-brl',
    '12.5',
    '--note',
    'para Rita',
  )
  assert.equal(credited.code, 0, credited.stderr)
  assert.equal((await referralsOf(secret)).referred_users[0].name, 'R•••')
  const acts = await db
    .selectFrom('audit_log')
    .select(['action', 'actor_kind', 'actor_id', 'subject_id', 'details'])
    .where('customer_id', '=', id)
    .orderBy('id')
    .execute()
  const entry = await db
    .selectFrom('ledger_entries')
    .select(['id', 'reference'])
    .where('customer_id', '=', id)
    .executeTakeFirstOrThrow()
  const operator = { actor_kind: 'operator', actor_id: null }
  assert.deepEqual(acts, [
    { action: 'customer.created', ...operator, subject_id: id, details: null },
    { action: 'referral.recorded', ...operator, subject_id: customerId, details: null },
    {
      action: 'account.credited',
      ...operator,
      subject_id: entry.id,
      details: { amount_brl: '12.5', reason: 'adjustment', reference: entry.reference },
    },
  ])
})

function catraca(...args: string[]): Promise<RanCli> {
  return runCli(args, { DATABASE_URL: databaseUrl, DATA_DIR: join(tmpdir(), createId()) })
}
