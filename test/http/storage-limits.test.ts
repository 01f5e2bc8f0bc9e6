// deep: every limit of what is stored
/** The storage of a free account: each list that an act of a customer grows is bounded. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { TEAMS_EVER_MAX } from '../../src/customers/teams.ts'
import { pruneInvitations } from '../../src/customers/team-invitations.ts'
import { KEYS_EVER_MAX } from '../../src/http/api-keys/make-api-key.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { TOP_UPS_A_DAY } from '../../src/money/payments/create-top-up.ts'
import { PROMPT_BYTES_MAX, PROMPTS_MAX } from '../../src/customers/prompts/prompts.ts'
import { ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedPayer } from '../harness/payer.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedCustomer } from '../harness/test-database.ts'

let gateway: TestGateway
let baseUrl: string

before(async () => {
  gateway = await startGateway({})
  baseUrl = gateway.node.baseUrl
})
after(() => gateway.stop())

const seed = () => seedCustomer(gateway.database.db, { balanceBrl: '0' })

async function seedPrompts(
  customerId: string,
  { prompts, versions, bytes }: { prompts: number; versions: number; bytes: number },
): Promise<void> {
  await sql`
    with made as (
      insert into prompts (id, customer_id, slug, name, variables, tags, version)
      select gen_random_uuid(), ${customerId}, 'p' || n, 'Prompt ' || n, '{}', '{}', ${versions}::int4
      from generate_series(1, ${prompts}::int4) n returning id)
    insert into prompt_versions (prompt_id, version, body)
    select id, v, repeat('x', ${bytes}::int4) from made, generate_series(1, ${versions}::int4) v`.execute(
    gateway.database.db,
  )
}

test('an account has a number of saved prompts, copies included', async () => {
  const { customerId, secret } = await seed()
  await seedPrompts(customerId, { prompts: PROMPTS_MAX - 1, versions: 1, bytes: 10 })
  const body = { name: 'O último', body: 'Olá' }
  const last = await ask(baseUrl, '/me/prompts', { secret, body })
  assert.equal(last.status, 201)
  for (const path of ['/me/prompts', `/me/prompts/${last.json.id}/clone`]) {
    const refused = await ask(baseUrl, path, { secret, body })
    assert.deepEqual([refused.status, refused.json.error], [409, 'too_many_prompts'], path)
  }
  const id = last.json.id
  const gone = await ask(baseUrl, `/me/prompts/${id}`, { secret, method: 'DELETE' })
  assert.equal(gone.status, 200)
  assert.equal((await ask(baseUrl, '/me/prompts', { secret, body })).status, 201)
})

test('the texts of all versions have a size: another version is refused, another name is not', async () => {
  const { customerId, secret } = await seed()
  const made = await ask(baseUrl, '/me/prompts', { secret, body: { name: 'Cheio', body: 'a' } })
  const bytes = 31_000
  const versions = Math.floor(PROMPT_BYTES_MAX / (bytes + 1024))
  await seedPrompts(customerId, { prompts: 1, versions, bytes })
  const path = `/me/prompts/${made.json.id}`
  const change = (body: object) => ask(baseUrl, path, { secret, method: 'PATCH', body })
  const refused = await change({ body: 'á'.repeat(16_000) })
  assert.deepEqual([refused.status, refused.json.error], [409, 'prompts_too_large'])
  assert.equal((await change({ name: 'Outro nome' })).status, 200)
  assert.equal((await change({ body: 'a' })).status, 200, 'the same text makes no version')
})

test('an account has a number of keys, the revoked ones included', async () => {
  const { customerId, secret } = await seed()
  await sql`
    insert into api_keys (id, customer_id, name, secret_hash, last_four, requests_per_minute, revoked_at, scope)
    select gen_random_uuid(), ${customerId}, 'revogada', sha256(('k' || n)::bytea), 'aaaa', 1, now(), 'calls'
    from generate_series(1, ${KEYS_EVER_MAX - 2}::int4) n`.execute(gateway.database.db)
  const body = { name: 'Nova', model_ids: ['sandbox-chat'] }
  assert.equal((await ask(baseUrl, '/api-keys', { secret, body })).status, 201)
  const refused = await ask(baseUrl, '/api-keys', { secret, body })
  assert.deepEqual([refused.status, refused.json.error], [409, 'too_many_keys'])
})

test('an account has a number of teams, the closed ones included', async () => {
  const { customerId, secret } = await seed()
  await sql`
    insert into teams (id, customer_id, name, deleted_at)
    select gen_random_uuid(), ${customerId}, 'Fechada', now()
    from generate_series(1, ${TEAMS_EVER_MAX}::int4)`.execute(gateway.database.db)
  const refused = await ask(baseUrl, '/me/teams', { secret, body: { name: 'Mais uma' } })
  assert.deepEqual([refused.status, refused.json.error], [409, 'too_many_teams'])
})

test('invitations that ended long ago are deleted, open and recent ones stay', async () => {
  const { db } = gateway.database
  const { customerId } = await seed()
  const teamId = await seedTeam(db, customerId)
  const insert = async (email: string, dates: object): Promise<void> => {
    await db
      .insertInto('team_invitations')
      .values({
        id: createId(),
        team_id: teamId,
        email,
        role: 'member',
        token_hash: Buffer.from(email),
        invited_by: customerId,
        expires_at: new Date(Date.now() + 86_400_000),
        ...dates,
      })
      .execute()
  }
  const long = new Date(Date.now() - 91 * 86_400_000)
  await insert('open@example.com', {})
  await insert('lately@example.com', { revoked_at: new Date() })
  await insert('accepted@example.com', { accepted_at: long })
  await insert('revoked@example.com', { revoked_at: long })
  await insert('expired@example.com', { expires_at: long })
  await pruneInvitations(db)
  const left = await db
    .selectFrom('team_invitations')
    .select('email')
    .where('team_id', '=', teamId)
    .orderBy('email')
    .execute()
  assert.deepEqual(left, [{ email: 'lately@example.com' }, { email: 'open@example.com' }])
})

test('an account opens a number of Pix and boleto payments in a day', async () => {
  const { customerId, secret } = await seedPayer(gateway.database.db)
  const pay = () => ask(baseUrl, '/topups', { secret, body: { amount: 20, method: 'pix' } })
  const first = await pay()
  assert.equal(first.status, 201, first.text)
  await sql`
    update sign_in_attempts set tries = ${TOP_UPS_A_DAY.max}
    where key_hash = sha256(${`top-up of ${customerId}`}::bytea)`.execute(gateway.database.db)
  const refused = await pay()
  assert.deepEqual([refused.status, refused.json.error], [429, 'too_many_topups'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
})
