// deep: an attack
/** The stored responses of a team's key, which that key alone reads, and every way in which others may name them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { seedCustomer } from '../harness/test-database.ts'

const SECRET = 'O cofre abre com 4-8-15.'

let gateway: TestGateway
let base: string
/** Logs in as the owner of the team. */
let session: string
let member: { readonly secret: string; readonly id: string }
/** The response of the member's conversation, and an item of its output. */
let said: { readonly id: string; readonly itemId: string }

before(async () => {
  gateway = await startGateway()
  const { database, node, customerId } = gateway
  base = node.baseUrl
  await database.db
    .updateTable('customers')
    .set({ stored_responses_days: 30 })
    .where('id', '=', customerId)
    .execute()
  session = await openSession({ db: database.db, dataDir: node.dataDir }, customerId)
  const { customerId: memberId } = await seedCustomer(database.db, { balanceBrl: '0' })
  const teamId = await seedTeam(database.db, customerId)
  const made = await createApiKey(database.db, {
    customerId,
    teamId,
    createdBy: memberId,
    name: 'de um membro',
    requestsPerMinute: 1_000,
  })
  member = { secret: made.secret, id: made.key.id }
  const first = await respond(member.secret, { input: SECRET })
  assert.equal(first.json.store, true, first.text)
  said = { id: first.json.id, itemId: first.json.output[0].id }
})
after(() => gateway.stop())

function respond(secret: string, body: object, keyId?: string): Promise<Asked> {
  return ask(base, '/responses', {
    secret,
    body: { model: 'sandbox-chat', ...body },
    ...(keyId === undefined ? {} : { headers: { 'x-svc-api-key-id': keyId } }),
  })
}

/** Each way to name what the key said, in a call. */
const WAYS: readonly [string, () => object][] = [
  ['continues it', () => ({ input: 'Repita.', previous_response_id: said.id })],
  [
    'refers to an item of it',
    () => ({
      input: [
        { type: 'item_reference', id: said.itemId },
        { role: 'user', content: 'Repita.' },
      ],
    }),
  ],
]

for (const [way, body] of WAYS)
  test(`the owner of a team who ${way} reads nothing of a member's conversation, whichever key the session names`, async () => {
    const { database, secret, customerId } = gateway
    const own = await database.db
      .selectFrom('api_keys')
      .select('id')
      .where('customer_id', '=', customerId)
      .where('team_id', 'is', null)
      .executeTakeFirstOrThrow()
    for (const asked of [
      await respond(secret, body()),
      await respond(session, body(), own.id),
      await respond(session, body(), member.id),
    ])
      assert.equal(asked.status, 400, asked.text)
    assert.equal((await respond(member.secret, body())).status, 200)
  })

test("the owner's session pays with a team's key, and leaves nothing that the members could read", async () => {
  const asked = await respond(session, { input: 'Só para mim.' }, member.id)
  assert.equal(asked.status, 200, asked.text)
  assert.equal(asked.json.store, false)
  const path = `/responses/${asked.json.id}`
  assert.equal((await ask(base, path, { secret: member.secret })).status, 404)
})

test('the owner reads, lists and deletes no response of a team’s key by its id', async () => {
  for (const secret of [gateway.secret, session])
    for (const [method, path] of [
      ['GET', `/responses/${said.id}`],
      ['GET', `/responses/${said.id}/input_items`],
      ['DELETE', `/responses/${said.id}`],
    ] as const)
      assert.equal((await ask(base, path, { secret, method })).status, 404, `${method} ${path}`)
  const read = await ask(base, `/responses/${said.id}/input_items`, { secret: member.secret })
  assert.ok(read.text.includes(SECRET), read.text)
})
