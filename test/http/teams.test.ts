/** Teams: who may do what in one, how one comes in and out, and the cap that all of its keys share. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { insertInvitation } from '../../src/customers/team-invitations.ts'
import { insertTeam } from '../../src/customers/teams.ts'
import type { TeamRole } from '../../src/platform/db/tables.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createId, randomText, sha256 } from '../../src/platform/lib/ids.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { ask, askChat, billedIn, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'

interface Person {
  readonly id: string
  readonly secret: string
  readonly email: string
}
const RANKS = ['owner', 'admin', 'member', 'stranger'] as const
type Rank = (typeof RANKS)[number]

let database: TestDatabase
let sandbox: SandboxUpstream
let config: ConfigFile
let nodes: [LocalNode, LocalNode]
let people: Record<Rank, Person>

before(async () => {
  database = await createTestDatabase()
  sandbox = await startSandboxUpstream()
  config = await writeConfigFile({
    upstreams: [
      {
        id: 'counted',
        kind: 'openai-compatible',
        base_url: sandbox.baseUrl,
        cancel_stops_billing: true,
      },
    ],
    // It costs what it holds: its prompt is free and its answer fills `max_tokens`.
    models: [
      {
        id: 'exact',
        category: 'llm',
        prices: { input: 0, output: 100 },
        markup_multiplier: '1.3',
        routes: [{ upstream: 'counted', model: 'sandbox-chat' }],
        context_tokens: 128_000,
        max_output_tokens: 4_096,
      },
    ],
  })
  const { databaseUrl } = database
  const env = { CATRACA_CONFIG: config.path }
  nodes = await Promise.all([
    startLocalNode({ databaseUrl, env }),
    startLocalNode({ databaseUrl, env }),
  ])
  const made = await Promise.all(RANKS.map((rank) => makePerson(`${rank} Silva`)))
  people = Object.fromEntries(RANKS.map((rank, index) => [rank, made[index]])) as typeof people
})

after(async () => {
  await Promise.all(nodes.map((node) => node.stop().then(() => node.remove())))
  await sandbox.close()
  await config.remove()
  await database.drop()
})

/** Written with capitals, as people write their addresses. */
async function makePerson(name: string, balanceBrl = '1000'): Promise<Person> {
  const { customerId, secret } = await seedCustomer(database.db, { balanceBrl })
  const email = `${randomText(12)}@Exemplo.com.br`
  await database.db
    .updateTable('customers')
    .set({ name, email })
    .where('id', '=', customerId)
    .execute()
  return { id: customerId, secret, email }
}

function call(person: Person, method: string, path: string, body?: unknown): Promise<Asked> {
  return ask(nodes[0].baseUrl, path, { secret: person.secret, method, body })
}

function chat(secret: string, node: LocalNode = nodes[0]): Promise<Asked> {
  return askChat(node.baseUrl, secret, sound('exact', { max_tokens: 5 }))
}

/** 5 tokens of USD 100 for a million, at 5.2, times 1.3. */
const COST_BRL = '0.00338'
const KEY = { name: 'Servidor', model_ids: ['exact'] }

function assertRefused(answer: Asked, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.json.error, code)
}

interface SeededTeam {
  readonly id: string
  readonly path: string
  /** Of the admin and of the member. */
  readonly keyIds: Record<TeamRole, string>
  readonly invitationId: string
}

async function seedTeam(): Promise<SeededTeam> {
  const { db } = database
  const ownerId = people.owner.id
  return db.transaction().execute(async (trx) => {
    const created = await insertTeam(trx, { ownerId, name: 'Equipe', limitNanoBrl: null })
    assert.ok(created.kind === 'created')
    const { id } = created
    const keyIds: Partial<Record<TeamRole, string>> = {}
    for (const role of ['admin', 'member'] as const) {
      const { id: customerId } = people[role]
      await trx
        .insertInto('team_members')
        .values({ team_id: id, customer_id: customerId, role })
        .execute()
      const { key } = await createApiKey(trx, {
        customerId: ownerId,
        name: 'da equipe',
        requestsPerMinute: 1_000,
        teamId: id,
        createdBy: customerId,
      })
      keyIds[role] = key.id
    }
    const invited = await insertInvitation(trx, {
      teamId: id,
      email: `${createId()}@exemplo.com.br`,
      role: 'member',
      invitedBy: ownerId,
    })
    assert.ok(invited.kind === 'created')
    return {
      id,
      path: `/me/teams/${id}`,
      keyIds: keyIds as SeededTeam['keyIds'],
      invitationId: invited.invitation.id,
    }
  })
}

/** All that the routes of a team could change of it. */
async function stateOf(teamId: string): Promise<string> {
  const { rows } = await sql<{ state: string }>`select jsonb_build_array(
    (select to_jsonb(t) from teams t where id = ${teamId}),
    (select to_jsonb(b) from team_budgets b where team_id = ${teamId}),
    (select jsonb_agg(m order by customer_id) from team_members m where team_id = ${teamId}),
    (select jsonb_agg(i order by id) from team_invitations i where team_id = ${teamId}),
    (select jsonb_agg(k order by id) from api_keys k where team_id = ${teamId}),
    (select count(*) from audit_log))::text as state`.execute(database.db)
  return (rows[0] as { state: string }).state
}

/** What each is answered: a status, or the code of a refusal; 403 is `forbidden`, 404 `team_not_found`. */
type Expected = number | 'key_not_found' | 'member_not_found'
interface RightsRow {
  readonly act: string
  readonly body?: unknown
  /** Under the team's own path. */
  path(team: SeededTeam): string
  readonly expected: readonly [owner: Expected, admin: Expected, member: Expected]
}

const RIGHTS: readonly RightsRow[] = [
  { act: 'GET', path: () => '', expected: [200, 200, 200] },
  { act: 'PATCH', body: { name: 'Outra' }, path: () => '', expected: [200, 200, 403] },
  { act: 'PATCH', body: { monthly_cap_brl: 5 }, path: () => '', expected: [200, 403, 403] },
  { act: 'PATCH', body: { monthly_cap_brl: null }, path: () => '', expected: [200, 403, 403] },
  // A refused cap takes the name with it.
  {
    act: 'PATCH',
    body: { name: 'Outra', monthly_cap_brl: 5 },
    path: () => '',
    expected: [200, 403, 403],
  },
  { act: 'DELETE', path: () => '', expected: [200, 403, 403] },
  { act: 'GET', path: () => '/members', expected: [200, 200, 200] },
  {
    act: 'PATCH',
    body: { role: 'admin' },
    path: () => `/members/${people.member.id}`,
    expected: [200, 200, 403],
  },
  {
    act: 'PATCH',
    body: { role: 'member' },
    path: () => `/members/${people.owner.id}`,
    expected: [403, 403, 403],
  },
  {
    act: 'PATCH',
    body: { role: 'member' },
    path: () => `/members/${people.stranger.id}`,
    expected: ['member_not_found', 'member_not_found', 403],
  },
  // A member may leave, and nobody throws out the owner.
  { act: 'DELETE', path: () => `/members/${people.member.id}`, expected: [200, 200, 200] },
  { act: 'DELETE', path: () => `/members/${people.admin.id}`, expected: [200, 200, 403] },
  { act: 'DELETE', path: () => `/members/${people.owner.id}`, expected: [403, 403, 403] },
  {
    act: 'DELETE',
    path: () => '/members/none',
    expected: ['member_not_found', 'member_not_found', 403],
  },
  { act: 'GET', path: () => '/invitations', expected: [200, 200, 403] },
  {
    act: 'POST',
    body: { email: 'bia@exemplo.com.br', role: 'admin' },
    path: () => '/invitations',
    expected: [201, 201, 403],
  },
  {
    act: 'DELETE',
    path: ({ invitationId }) => `/invitations/${invitationId}`,
    expected: [200, 200, 403],
  },
  { act: 'GET', path: () => '/keys', expected: [200, 200, 200] },
  { act: 'POST', body: KEY, path: () => '/keys', expected: [201, 201, 201] },
  {
    act: 'DELETE',
    path: ({ keyIds }) => `/keys/${keyIds.admin}`,
    expected: [200, 200, 'key_not_found'],
  },
  { act: 'DELETE', path: ({ keyIds }) => `/keys/${keyIds.member}`, expected: [200, 200, 200] },
]

test('owner, admin, member and outsider have exactly their rights, and a refusal changes nothing', async () => {
  let team = await seedTeam()
  for (const row of RIGHTS) {
    for (const [index, rank] of RANKS.entries()) {
      const expected = row.expected[index] ?? 404
      const path = team.path + row.path(team)
      const earlier = await stateOf(team.id)
      const answer = await call(people[rank], row.act, path, row.body)
      const what = `${row.act} ${path} by the ${rank}: ${answer.status} ${answer.text}`
      if (typeof expected === 'string') assertRefused(answer, 404, expected)
      else assert.equal(answer.status, expected, what)
      if (expected === 403) assert.equal(answer.json.error, 'forbidden', what)
      if (expected === 404) assert.equal(answer.json.error, 'team_not_found', what)
      const isSame = (await stateOf(team.id)) === earlier
      assert.equal(isSame, answer.status >= 400 || row.act === 'GET', what)
      if (!isSame) team = await seedTeam()
    }
  }
})

test('unknown ids and those of another team are not found', async () => {
  const [one, other] = [await seedTeam(), await seedTeam()]
  for (const path of ['/me/teams/none', `/me/teams/${createId()}`, '/me/teams/%00/keys'])
    assertRefused(await call(people.owner, 'GET', path), 404, 'team_not_found')
  const key = `${one.path}/keys/${other.keyIds.member}`
  assertRefused(await call(people.owner, 'DELETE', key), 404, 'key_not_found')
  const ownKeys = await call(people.owner, 'GET', '/api-keys?limit=200')
  const ownKey = ownKeys.json.api_keys.find((key: { team_id: unknown }) => key.team_id === null)
  const notOfTeam = await call(people.owner, 'DELETE', `${one.path}/keys/${ownKey.id}`)
  assertRefused(notOfTeam, 404, 'key_not_found')
  const invitation = `${one.path}/invitations/${other.invitationId}`
  assertRefused(await call(people.owner, 'DELETE', invitation), 404, 'invitation_not_found')
  assert.equal((await call(people.owner, 'GET', '/usage')).status, 200, 'the own key still works')
})

test('the list has own and joined teams, paged, and shows one letter of another owner', async () => {
  const [ana, bia] = await Promise.all([makePerson('Ana Souza'), makePerson('Bia Reis')])
  const own: string[] = []
  for (const name of ['Uma', 'Duas', 'Três']) {
    const made = await call(ana, 'POST', '/me/teams', { name, monthly_cap_brl: 12.5 })
    assert.equal(made.status, 201, made.text)
    own.push(made.json.id)
  }
  const foreign = await call(bia, 'POST', '/me/teams', { name: 'De Bia' })
  await join(bia, foreign.json.id, ana, 'admin')
  const expected = [foreign.json.id, ...own.toReversed()]
  const listed: { id: string }[] = []
  for (let cursor = ''; ;) {
    const { json } = await call(ana, 'GET', `/me/teams?limit=3${cursor}`)
    listed.push(...json.teams)
    if (json.next_cursor === null) break
    cursor = `&cursor=${json.next_cursor}`
  }
  assert.deepEqual(
    listed.map(({ id }) => id),
    expected,
  )
  const { created_at, ...theirs } = listed[0] as Record<string, unknown> & { id: string }
  assert.ok(Date.parse(String(created_at)) <= Date.now())
  assert.deepEqual(theirs, {
    id: foreign.json.id,
    name: 'De Bia',
    role: 'admin',
    owner: 'B***',
    monthly_cap_brl: null,
    spent_this_month_brl: 0,
    held_brl: 0,
    remaining_brl: null,
    requests_this_month: 0,
    tokens_this_month: 0,
    member_count: 1,
    key_count: 0,
  })
  const mine = listed[1] as unknown as { owner: string; role: string; remaining_brl: number }
  assert.deepEqual([mine.owner, mine.role, mine.remaining_brl], ['Ana Souza', 'owner', 12.5])
})

/** As people do it: by an invitation and its token. */
async function join(
  inviter: Person,
  teamId: string,
  guest: Person,
  role: TeamRole = 'member',
): Promise<void> {
  const body = { email: guest.email, role }
  const invited = await call(inviter, 'POST', `/me/teams/${teamId}/invitations`, body)
  assert.equal(invited.status, 201, invited.text)
  const { token } = invited.json
  const accepted = await call(guest, 'POST', '/me/invitations/accept', { token })
  assert.deepEqual([accepted.status, accepted.json.role], [200, role], accepted.text)
}

async function makeTeam(owner: Person, monthly_cap_brl: number | null = null): Promise<string> {
  const made = await call(owner, 'POST', '/me/teams', { name: 'Equipe', monthly_cap_brl })
  assert.equal(made.status, 201, made.text)
  return made.json.id
}

async function makeTeamKey(maker: Person, teamId: string): Promise<{ id: string; key: string }> {
  const made = await call(maker, 'POST', `/me/teams/${teamId}/keys`, KEY)
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  assert.deepEqual([made.json.team_id, made.json.created_by], [teamId, maker.id])
  return made.json
}

test('a cap is stored exactly, and an invalid amount is refused', async () => {
  const owner = await makePerson('Caio')
  const id = await makeTeam(owner)
  for (const cap of ['0.01', '0.07', '19.99', '1000000', '123456.78']) {
    const answer = await call(owner, 'PATCH', `/me/teams/${id}`, `{"monthly_cap_brl":${cap}}`)
    assert.match(answer.text, new RegExp(`"monthly_cap_brl":${cap.replace('.', '\\.')},`))
    const { limit_nano_brl } = await budgetOf(id)
    assert.equal(limit_nano_brl, parseBrl(cap))
  }
  const faulty = ['0', '-1', '0.001', '1e-7', '1000000.01', '1e300', '"5"', '[]', 'true']
  for (const cap of faulty) {
    const answer = await call(owner, 'PATCH', `/me/teams/${id}`, `{"monthly_cap_brl":${cap}}`)
    assertRefused(answer, 400, 'invalid_request')
    assert.match(answer.json.details, /^monthly_cap_brl: /)
  }
  assert.equal((await budgetOf(id)).limit_nano_brl, parseBrl('123456.78'))
  const without = await call(owner, 'PATCH', `/me/teams/${id}`, { monthly_cap_brl: null })
  assert.equal(without.json.monthly_cap_brl, null)
  for (const name of ['ab', 'x'.repeat(51), '  a ', 'a\u0000bc', 'a\r\nBcc: b', 5, null])
    assertRefused(await call(owner, 'POST', '/me/teams', { name }), 400, 'invalid_request')
  const trimmed = await call(owner, 'PATCH', `/me/teams/${id}`, { name: ' Programação 🚀 ' })
  assert.equal(trimmed.json.name, 'Programação 🚀')
})

async function budgetOf(teamId: string) {
  return database.db
    .selectFrom('team_budgets')
    .selectAll()
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow()
}

test('concurrent creations make at most 100 teams', async () => {
  const owner = await makePerson('Davi')
  await database.db.transaction().execute(async (trx) => {
    for (let made = 0; made < 98; made++)
      await insertTeam(trx, { ownerId: owner.id, name: 'Equipe', limitNanoBrl: null })
  })
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => call(owner, 'POST', '/me/teams', { name: 'Equipe' })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 2)
  for (const answer of answers)
    if (answer.status !== 201) assertRefused(answer, 409, 'too_many_teams')
})

test('concurrent invitations: at most 50 are open, and one for each e-mail', async () => {
  const owner = await makePerson('Eva')
  const path = `/me/teams/${await makeTeam(owner)}/invitations`
  const invite = (name: string): Promise<Asked> =>
    call(owner, 'POST', path, { email: `${name}@exemplo.com.br`, role: 'member' })
  const same = await Promise.all(['ana', 'ANA', 'Ana', 'aNa'].map(invite))
  assert.equal(same.filter(({ status }) => status === 201).length, 1)
  assert.ok(same.every(({ status, json }) => status === 201 || json.error === 'already_invited'))
  const many: Asked[] = []
  // Eleven at once: they wait for each other, on a slow machine longer than a statement may.
  for (let lot = 0; lot < 5; lot += 1)
    many.push(
      ...(await Promise.all(Array.from({ length: 11 }, (_, index) => invite(`a${lot}-${index}`)))),
    )
  for (const answer of many)
    if (answer.status !== 201) assertRefused(answer, 409, 'too_many_invitations')
  assert.equal(many.filter(({ status }) => status === 201).length, 49)
  const listed = await call(owner, 'GET', path)
  assert.equal(listed.json.invitations.length, 50)
  const revoke = await call(owner, 'DELETE', `${path}/${listed.json.invitations[0].id}`)
  assert.equal(revoke.status, 200)
  assert.equal((await invite('depois')).status, 201)
  for (const email of ['x', 'a b@c.d', 'a@b@c', 'a@b\u0000', `${'x'.repeat(251)}@a.b`, null])
    assertRefused(
      await call(owner, 'POST', path, { email, role: 'member' }),
      400,
      'invalid_request',
    )
})

test('revoked invitations count too: one person gets at most five a day from all teams together', async () => {
  const people = await Promise.all([makePerson('Hugo'), makePerson('Íris')])
  const name = `alvo-${createId()}`
  const answers: Asked[] = []
  for (const owner of [...people, ...people, ...people]) {
    const path = `/me/teams/${await makeTeam(owner)}/invitations`
    const email = `${name}+${answers.length}@exemplo.com.br`
    const invited = await call(owner, 'POST', path, { email, role: 'member' })
    answers.push(invited)
    if (invited.status === 201) await call(owner, 'DELETE', `${path}/${invited.json.id}`)
  }
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201, 201, 201, 429],
  )
  assertRefused(answers[5] as Asked, 429, 'invitation_limit_reached')
  assert.match(answers[5]?.headers.get('retry-after') ?? '', /^[1-9]\d+$/)
})

test('invitations are limited to a hundred a day for each team and inviter, and 5,000 for all who never topped up', async () => {
  const [owner, admin] = await Promise.all([makePerson('Joel'), makePerson('Kátia')])
  const one = await makeTeam(owner)
  const invite = (by: Person, teamId: string): Promise<Asked> =>
    call(by, 'POST', `/me/teams/${teamId}/invitations`, {
      email: `${createId()}@exemplo.com.br`,
      role: 'member',
    })
  const full = async (key: string, tries: number): Promise<void> => {
    const row = { key_hash: sha256(key), tries, ends_at: new Date(Date.now() + 60_000) }
    await database.db
      .insertInto('sign_in_attempts')
      .values(row)
      .onConflict((conflict) => conflict.column('key_hash').doUpdateSet({ tries }))
      .execute()
  }
  await full(`invitation by team ${one}`, 99)
  assert.equal((await invite(owner, one)).status, 201)
  assertRefused(await invite(owner, one), 429, 'invitation_limit_reached')
  assert.equal((await invite(owner, await makeTeam(owner))).status, 201)
  await full(`invitation by ${owner.id}`, 100)
  assertRefused(await invite(owner, await makeTeam(owner)), 429, 'invitation_limit_reached')
  assert.equal((await invite(admin, await makeTeam(admin))).status, 201)
  const { customerId, secret } = await seedCustomer(database.db, { balanceBrl: '0' })
  const free = { ...admin, id: customerId, secret }
  assert.equal((await invite(free, await makeTeam(free))).status, 201)
  await full('invitation', 5_000)
  assertRefused(await invite(free, await makeTeam(free)), 429, 'invitation_limit_reached')
  assert.equal((await invite(admin, await makeTeam(admin))).status, 201)
  await full('invitation', 0)
})

test('the token of an invitation is shown once and stored as a hash', async () => {
  const [owner, guest] = await Promise.all([makePerson('Fábio'), makePerson('Gil')])
  const path = `/me/teams/${await makeTeam(owner)}/invitations`
  const invited = await call(owner, 'POST', path, { email: guest.email, role: 'member' })
  const { token } = invited.json
  assert.ok(token.length >= 32)
  const received = await call(guest, 'GET', '/me/invitations')
  assert.deepEqual(
    received.json.invitations.map((each: { id: string; owner: string }) => [each.id, each.owner]),
    [[invited.json.id, 'F***']],
  )
  const listed = await call(owner, 'GET', path)
  for (const { text } of [received, listed]) assert.ok(!text.includes(token))
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(i)::text as row from team_invitations i where id = ${invited.json.id}
    union all select to_jsonb(a)::text from audit_log a`.execute(database.db)
  assert.ok(rows.every(({ row }) => !row.includes(token)))
  assert.deepEqual((await call(people.stranger, 'GET', '/me/invitations')).json.invitations, [])
})

test('only the invited person can accept an invitation, and only while it is open', async () => {
  const [owner, guest] = await Promise.all([makePerson('Helena'), makePerson('Ivo')])
  const teamId = await makeTeam(owner)
  const path = `/me/teams/${teamId}/invitations`
  const invite = async (): Promise<{ id: string; token: string }> =>
    (await call(owner, 'POST', path, { email: guest.email.toUpperCase(), role: 'member' })).json
  const accept = (who: Person, token: string): Promise<Asked> =>
    call(who, 'POST', '/me/invitations/accept', { token })

  const revoked = await invite()
  for (const who of [owner, people.stranger])
    assertRefused(await accept(who, revoked.token), 404, 'invitation_not_found')
  await call(owner, 'DELETE', `${path}/${revoked.id}`)
  assertRefused(await accept(guest, revoked.token), 404, 'invitation_not_found')

  const expired = await invite()
  await sql`update team_invitations set expires_at = now() where id = ${expired.id}`.execute(
    database.db,
  )
  assertRefused(await accept(guest, expired.token), 404, 'invitation_not_found')
  assert.deepEqual((await call(guest, 'GET', '/me/invitations')).json.invitations, [])

  for (const token of ['x', '', '\u0000', revoked.id])
    assert.ok([400, 404].includes((await accept(guest, token)).status))
  assert.equal((await accept(guest, (await invite()).token)).status, 200)
  const again = await call(owner, 'POST', path, { email: guest.email, role: 'admin' })
  assertRefused(again, 409, 'already_member')
  const self = await call(owner, 'POST', path, { email: owner.email, role: 'admin' })
  assertRefused(self, 409, 'already_member')
})

test('of 20 concurrent acceptances of an invitation on two nodes, one succeeds', async () => {
  const [owner, guest] = await Promise.all([makePerson('João'), makePerson('Lia')])
  const teamId = await makeTeam(owner)
  const body = { email: guest.email, role: 'member' }
  const { token } = (await call(owner, 'POST', `/me/teams/${teamId}/invitations`, body)).json
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask((nodes[index % 2] as LocalNode).baseUrl, '/me/invitations/accept', {
        secret: guest.secret,
        body: { token },
      }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers)
    if (answer.status !== 200) assertRefused(answer, 404, 'invitation_not_found')
  const members = await call(owner, 'GET', `/me/teams/${teamId}/members`)
  assert.equal(members.json.members.length, 1)
  assert.deepEqual(await actsOf(guest.id), ['team_invitation.accepted', 'team_member.joined'])
})

test('the owner of the verified e-mail accepts without the token, and nobody else does', async () => {
  const [owner, guest] = await Promise.all([makePerson('Olga'), makePerson('Pedro')])
  const teamId = await makeTeam(owner)
  const body = { email: guest.email, role: 'admin' }
  const { id } = (await call(owner, 'POST', `/me/teams/${teamId}/invitations`, body)).json
  const accept = (who: Person, what = id): Promise<Asked> =>
    call(who, 'POST', `/me/invitations/${what}/accept`)
  const email = guest.email.toLowerCase()
  const user = { id: createId(), name: 'Pedro', email, is_verified: false }
  for (const who of [owner, people.stranger])
    assertRefused(await accept(who), 404, 'invitation_not_found')
  for (const what of [createId(), 'x', '%00'])
    assertRefused(await accept(guest, what), 404, 'invitation_not_found')
  // By a key alone an e-mail is a claim, and so it is while its mail was not answered.
  assertRefused(await accept(guest), 403, 'forbidden')
  await database.db.insertInto('sign_in_users').values(user).execute()
  assertRefused(await accept(guest), 403, 'forbidden')
  assert.equal((await call(guest, 'GET', '/me/invitations')).json.invitations.length, 1)
  await sql`update sign_in_users set is_verified = true where id = ${user.id}`.execute(database.db)
  const answers = await Promise.all(Array.from({ length: 5 }, () => accept(guest)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers)
    if (answer.status !== 200) assertRefused(answer, 404, 'invitation_not_found')
  assert.equal((await call(guest, 'GET', `/me/teams/${teamId}`)).json.role, 'admin')
  assert.deepEqual(await actsOf(guest.id), ['team_invitation.accepted', 'team_member.joined'])
})

test('only the invited person can decline, once', async () => {
  const [owner, guest] = await Promise.all([makePerson('Quitéria'), makePerson('Rui')])
  const teamId = await makeTeam(owner)
  const body = { email: guest.email, role: 'member' }
  const path = `/me/teams/${teamId}/invitations`
  const { id, token } = (await call(owner, 'POST', path, body)).json
  const decline = (who: Person, what = id): Promise<Asked> =>
    call(who, 'DELETE', `/me/invitations/${what}`)
  for (const who of [owner, people.stranger])
    assertRefused(await decline(who), 404, 'invitation_not_found')
  assertRefused(await decline(guest, '%00'), 404, 'invitation_not_found')
  const declined = await decline(guest)
  assert.deepEqual([declined.status, declined.json], [200, { id, declined: true }])
  assertRefused(await decline(guest), 404, 'invitation_not_found')
  const late = await call(guest, 'POST', '/me/invitations/accept', { token })
  assertRefused(late, 404, 'invitation_not_found')
  assert.deepEqual((await call(owner, 'GET', path)).json.invitations, [])
  assert.deepEqual(await actsOf(guest.id), ['team_invitation.declined'])
  assert.equal((await call(owner, 'POST', path, body)).status, 201, 'they may be asked again')
})

async function actsOf(actorId: string): Promise<string[]> {
  const rows = await database.db
    .selectFrom('audit_log')
    .select('action')
    .where('actor_id', '=', actorId)
    .orderBy('id')
    .execute()
  return rows.map(({ action }) => action)
}

test('the open invitations of a former admin end', async () => {
  const [owner, admin] = await Promise.all([makePerson('Mara'), makePerson('Nina')])
  const teamId = await makeTeam(owner)
  const path = `/me/teams/${teamId}`
  await join(owner, teamId, admin, 'admin')
  const kept = { email: 'a@exemplo.com.br', role: 'member' }
  await call(owner, 'POST', `${path}/invitations`, kept)
  await call(admin, 'POST', `${path}/invitations`, { email: 'b@exemplo.com.br', role: 'admin' })
  await call(owner, 'PATCH', `${path}/members/${admin.id}`, { role: 'member' })
  const { invitations } = (await call(owner, 'GET', `${path}/invitations`)).json
  assert.deepEqual(
    invitations.map(({ email }: { email: string }) => email),
    [kept.email],
  )
})

test('a member sees own keys only, the owner all; none of these keys can call REST', async () => {
  const [owner, member] = await Promise.all([makePerson('Olga'), makePerson('Paulo')])
  const teamId = await makeTeam(owner)
  await join(owner, teamId, member)
  const ofOwner = await makeTeamKey(owner, teamId)
  const ofMember = await makeTeamKey(member, teamId)
  const idsFor = async (who: Person): Promise<string[]> =>
    (await call(who, 'GET', `/me/teams/${teamId}/keys`)).json.api_keys.map(
      ({ id }: { id: string }) => id,
    )
  assert.deepEqual(await idsFor(member), [ofMember.id])
  assert.deepEqual(await idsFor(owner), [ofMember.id, ofOwner.id])
  const keysOfMember = (await call(member, 'GET', '/api-keys')).json.api_keys
  assert.ok(keysOfMember.every(({ id }: { id: string }) => id !== ofMember.id))
  const answer = await ask(nodes[0].baseUrl, '/usage', { secret: ofMember.key })
  assertRefused(answer, 403, 'forbidden')
})

test("a member's calls are charged to the owner, and counted for the team and for the key's creator", async () => {
  const [owner, member] = await Promise.all([makePerson('Rita'), makePerson('Saulo', '0')])
  const teamId = await makeTeam(owner, 1)
  await join(owner, teamId, member)
  const { key } = await makeTeamKey(member, teamId)
  for (let made = 0; made < 3; made++) assert.equal((await chat(key)).status, 200)
  assert.equal((await chat(owner.secret)).status, 200)
  const { balanceNanoBrl } = (await findAccount(database.db, owner.id)) as {
    balanceNanoBrl: bigint
  }
  assert.equal(balanceNanoBrl, (parseBrl('1000') as bigint) - 4n * (parseBrl(COST_BRL) as bigint))
  const team = await call(member, 'GET', `/me/teams/${teamId}`)
  assert.match(team.text, /"spent_this_month_brl":0\.01014,"held_brl":0,"remaining_brl":0\.98986,/)
  assert.equal(team.json.requests_this_month, 3)
  const forOwner = (await call(owner, 'GET', `/me/teams/${teamId}/members`)).json
  assert.equal(forOwner.owner.requests_this_month, 0)
  const [row] = forOwner.members
  assert.deepEqual(
    [row.name, row.email, row.requests_this_month, row.cost_billed_this_month_brl, row.key_count],
    ['Saulo', member.email, 3, 0.01014, 1],
  )
  assert.ok(row.tokens_this_month >= 15 && row.tokens_this_month === team.json.tokens_this_month)
  const forMember = (await call(member, 'GET', `/me/teams/${teamId}/members`)).json
  assert.deepEqual(
    [forMember.owner.name, forMember.owner.email, forMember.owner.cost_billed_this_month_brl],
    ['R***', null, null],
  )
  assert.equal(forMember.members[0].requests_this_month, 3)
  assert.deepEqual((await call(member, 'GET', '/usage')).json.usage_events, [])
})

test("a team at its cap gets 402 until the cap is raised, while the owner's other keys still work", async () => {
  const owner = await makePerson('Tina')
  const teamId = await makeTeam(owner, 0.01)
  const { key } = await makeTeamKey(owner, teamId)
  for (let made = 0; made < 2; made++) assert.equal((await chat(key)).status, 200)
  assertRefusal(await chat(key), 402, 'team_cap_exceeded')
  assertRefusal(await chat(key, nodes[1]), 402, 'team_cap_exceeded')
  assert.equal((await chat(owner.secret)).status, 200)
  await call(owner, 'PATCH', `/me/teams/${teamId}`, { monthly_cap_brl: 0.02 })
  for (let made = 0; made < 3; made++) assert.equal((await chat(key, nodes[1])).status, 200)
  assertRefusal(await chat(key), 402, 'team_cap_exceeded')
  // Lowered under what was spent, nothing is left, and not less than nothing.
  const lowered = await call(owner, 'PATCH', `/me/teams/${teamId}`, { monthly_cap_brl: 0.01 })
  assert.match(lowered.text, /"spent_this_month_brl":0\.0169,"held_brl":0,"remaining_brl":0,/)
  assertRefusal(await chat(key), 402, 'team_cap_exceeded')
  await call(owner, 'PATCH', `/me/teams/${teamId}`, { monthly_cap_brl: null })
  assert.equal((await chat(key)).status, 200)
  await assertAudit(database)
})

test("a member learns from a refusal nothing of the owner's balance, and no member tops it up", async () => {
  const owner = await makePerson('Tito', '0.002')
  const { key } = await makeTeamKey(owner, await makeTeam(owner, 10))
  const [own, ofTeam] = [await chat(owner.secret), await chat(key)]
  for (const answer of [own, ofTeam]) assertRefusal(answer, 402, 'insufficient_balance')
  assert.match(own.json.error.message, /max_tokens pode ser de até 2\./)
  assert.doesNotMatch(ofTeam.json.error.message, /\d|recarga/)
})

test("50 concurrent calls by two keys of a team on two nodes are served up to the team's cap", async () => {
  const owner = await makePerson('Ugo')
  const teamId = await makeTeam(owner, 0.05)
  const keys = [await makeTeamKey(owner, teamId), await makeTeamKey(owner, teamId)]
  const calls = new AbortController()
  const watch = (async () => {
    let highest = 0n
    while (!calls.signal.aborted) {
      const { spent_nano_brl, held_nano_brl } = await budgetOf(teamId)
      const used = spent_nano_brl + held_nano_brl
      if (used > highest) highest = used
      await sleep(2)
    }
    return highest
  })()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      chat((keys[index % 2] as { key: string }).key, nodes[index & 2 ? 1 : 0]),
    ),
  )
  calls.abort()
  assert.ok((await watch) <= (parseBrl('0.05') as bigint))
  const served = answers.filter(({ status }) => status === 200)
  // 14 times 0.00338 is 0.04732; a fifteenth would be 0.0507.
  assert.equal(served.length, 14)
  assert.ok(served.every(({ text }) => billedIn(text) === COST_BRL))
  for (const answer of answers)
    if (answer.status !== 200) assertRefusal(answer, 402, 'team_cap_exceeded')
  await untilNoHoldIsOpen(database)
  const team = await call(owner, 'GET', `/me/teams/${teamId}`)
  assert.match(team.text, /"spent_this_month_brl":0\.04732,"held_brl":0,"remaining_brl":0\.00268,/)
  await assertAudit(database)
})

test('a new month starts with nothing spent', async () => {
  const owner = await makePerson('Vera')
  const teamId = await makeTeam(owner, 0.01)
  const { key } = await makeTeamKey(owner, teamId)
  for (let made = 0; made < 2; made++) assert.equal((await chat(key)).status, 200)
  assertRefusal(await chat(key), 402, 'team_cap_exceeded')
  await sql`update team_budgets set period_started_at = period_started_at - interval '1 month'
    where team_id = ${teamId}`.execute(database.db)
  await sql`update usage_events set settled_at = settled_at - interval '1 month'
    where team_id = ${teamId}`.execute(database.db)
  const team = await call(owner, 'GET', `/me/teams/${teamId}`)
  assert.deepEqual([team.json.spent_this_month_brl, team.json.remaining_brl], [0, 0.01])
  assert.equal((await chat(key)).status, 200)
  const later = await call(owner, 'GET', `/me/teams/${teamId}`)
  assert.match(later.text, /"spent_this_month_brl":0\.00338,/)
})

/** Within a second, by which all nodes have heard of it. */
async function untilRefused(secret: string, node: LocalNode): Promise<void> {
  for (const deadline = Date.now() + 1_000; ; await sleep(20)) {
    const answer = await chat(secret, node)
    if (answer.status === 401) return assertRefusal(answer, 401, 'authentication_failed')
    assert.ok(Date.now() < deadline, `${answer.status} ${answer.text}`)
  }
}

test("a removed member's keys are refused on all nodes; those of others still work", async () => {
  const [owner, leaver, stayer] = await Promise.all([
    makePerson('Wilma'),
    makePerson('Xavier'),
    makePerson('Yara'),
  ])
  const teamId = await makeTeam(owner)
  await join(owner, teamId, leaver)
  await join(owner, teamId, stayer)
  const gone = await makeTeamKey(leaver, teamId)
  const kept = await makeTeamKey(stayer, teamId)
  for (const node of nodes) assert.equal((await chat(gone.key, node)).status, 200)
  const removed = await call(owner, 'DELETE', `/me/teams/${teamId}/members/${leaver.id}`)
  assert.deepEqual(removed.json, { customer_id: leaver.id, removed: true })
  await Promise.all(nodes.map((node) => untilRefused(gone.key, node)))
  for (const node of nodes) assert.equal((await chat(kept.key, node)).status, 200)
  assertRefused(await call(leaver, 'POST', `/me/teams/${teamId}/keys`, KEY), 404, 'team_not_found')
  assert.equal((await chat(leaver.secret)).status, 200, 'the own account goes on')
  const acts = await actsOf(owner.id)
  assert.deepEqual(acts.slice(-2), ['api_key.revoked', 'team_member.removed'])
})

test("a key created during a member's removal does not outlive the membership", async () => {
  const owner = await makePerson('Zeca')
  const teamId = await makeTeam(owner)
  for (let round = 0; round < 5; round++) {
    const member = await makePerson('Membro')
    await join(owner, teamId, member)
    await Promise.all([
      ...Array.from({ length: 4 }, () => call(member, 'POST', `/me/teams/${teamId}/keys`, KEY)),
      call(owner, 'DELETE', `/me/teams/${teamId}/members/${member.id}`),
    ])
    const left = await database.db
      .selectFrom('api_keys')
      .select('id')
      .where('created_by', '=', member.id)
      .where('revoked_at', 'is', null)
      .execute()
    assert.deepEqual(left, [])
  }
})

test('a deletion removes a team for all, with its keys and invitations, and keeps its charges', async () => {
  const [owner, member, guest] = await Promise.all([
    makePerson('Alice'),
    makePerson('Bruno'),
    makePerson('Clara'),
  ])
  const teamId = await makeTeam(owner)
  await join(owner, teamId, member)
  const { key } = await makeTeamKey(member, teamId)
  assert.equal((await chat(key, nodes[1])).status, 200)
  const body = { email: guest.email, role: 'member' }
  const { token } = (await call(owner, 'POST', `/me/teams/${teamId}/invitations`, body)).json
  const deleted = await call(owner, 'DELETE', `/me/teams/${teamId}`)
  assert.deepEqual(deleted.json, { id: teamId, deleted: true })
  await Promise.all(nodes.map((node) => untilRefused(key, node)))
  for (const who of [owner, member]) {
    assertRefused(await call(who, 'GET', `/me/teams/${teamId}`), 404, 'team_not_found')
    assert.deepEqual((await call(who, 'GET', '/me/teams')).json.teams, [])
  }
  assertRefused(await call(owner, 'DELETE', `/me/teams/${teamId}`), 404, 'team_not_found')
  assert.deepEqual((await call(guest, 'GET', '/me/invitations')).json.invitations, [])
  const late = await call(guest, 'POST', '/me/invitations/accept', { token })
  assertRefused(late, 404, 'invitation_not_found')
  assert.equal((await call(owner, 'GET', '/usage')).json.usage_events.length, 1)
  assert.deepEqual(await actsOf(owner.id), [
    'team.created',
    'team_invitation.created',
    'team_invitation.created',
    'api_key.revoked',
    'team_invitation.revoked',
    'team.deleted',
  ])
  await untilNoHoldIsOpen(database)
  await assertAudit(database)
})

test('the mail of an invitation leads to the teams, or to the sign-up for whoever has no account', async () => {
  const { db } = database
  const { path } = await seedTeam()
  const known = await makePerson('Convidado Conhecido')
  const stranger = `${randomText(12)}@exemplo.com.br`.toLowerCase()
  for (const email of [known.email, stranger]) {
    const { status, text } = await call(people.owner, 'POST', `${path}/invitations`, {
      email,
      role: 'member',
    })
    assert.equal(status, 201, text)
  }
  const linkIn = async (email: string): Promise<string | undefined> => {
    for (;;) {
      const mail = await db
        .selectFrom('sandbox_mails')
        .select('text')
        .where('email', '=', email.toLowerCase())
        .executeTakeFirst()
      if (mail) return /https?:\/\/[^/\s]+(\/\w+)$/m.exec(mail.text)?.[1]
      await sleep(50)
    }
  }
  assert.deepEqual([await linkIn(known.email), await linkIn(stranger)], ['/equipes', '/cadastrar'])
})
