// deep: every operation as a member of a team
/**
 * The present and former members of a team see and change nothing of its owner's account beside the team itself. As in
 * `tenant-isolation.test.ts`, which is about strangers, the tables say what belongs to an account: its ids and its marked
 * words are searched in every answer, and triggers record whose rows a request changed. In addition an id of the account
 * must be answered as an id of nobody, header by header.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'
import { seedPerson, type SeededPerson } from '../harness/seed-person.ts'
import { restartWithoutWorkers } from './app-without-workers.ts'
import { idsOfVictim, unknownId, type Ids } from './people-of-teams/ids-of-victim.ts'
import { makeCallers, type Caller } from './people-of-teams/make-callers.ts'
import { readRowsOf, type RowsOf } from './people-of-teams/read-rows-of.ts'
import { fill, templatesOf, type Filled, type Template } from './people-of-teams/requests.ts'
import { takeChanges, watchChanges } from './people-of-teams/watch-changes.ts'

/** More than any other amount of an answer. */
const BALANCE_BRL = 777_123n
const UUID = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/g
/** Anybody who has one of these addresses reads what is there. */
const BY_ADDRESS = new Set(['GET /public-bills/{token}', 'GET /files/images/{id}'])
/** Its answer is a time. */
const OF_NOW = new Set(['GET /healthz/db'])
/** The tables of the paying account that a call with a team's key changes. */
const MONEY_OF_CALLS =
  /^(accounts|holds|usage_(events|hours|sessions)|team_budgets|stored_response(s|_sums)|files|file_parts|batches|batch_lines|generated_images|api_key_uses|balance_watches)/

let gateway: TestGateway
let app: { close(): Promise<void> }
let victim: SeededPerson
let word: string
/** The whole reais of the victim's balance, also after the calls of these tests. */
let balance: RegExp
let ids: Ids
let own: RowsOf
/** The victim's ids that the people of the team know: of the team, its owner, keys and invitations, and of their acts. */
let ofTeam: ReadonlySet<string>
let callers: readonly Caller[]
let templates: readonly Template[]
/** Each of the victim's, by the path of its list. */
let cursors: ReadonlyMap<string, string>

before(async () => {
  gateway = await startGateway()
  const { database, node } = gateway
  const { db } = database
  const { baseUrl } = node
  victim = await seedPerson(db)
  word = String(victim.words[0])
  const { customerId, secret } = victim
  const amount = { amountNanoBrl: BALANCE_BRL * NANO_PER_BRL, reason: 'top_up' } as const
  await credit(db, { customerId, ...amount, reference: createId() })
  const said = { model: 'sandbox-chat', input: `segredo ${word}`, instructions: `seja ${word}` }
  const spoken = await ask(baseUrl, '/responses', { secret, body: said })
  assert.equal(spoken.json.store, true, spoken.text)
  const { id: teamId } = await db
    .selectFrom('teams')
    .select('id')
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  callers = await makeCallers(gateway, victim, teamId)
  ids = await idsOfVictim(db, victim, spoken)
  const operations = operationsOf(await readOpenApi(baseUrl))
  // Not those that only make something new of the caller's own.
  templates = templatesOf(operations.values()).filter(
    (each) =>
      (each.method === 'GET' || JSON.stringify(each).includes('$')) && !OF_NOW.has(each.name),
  )
  app = await restartWithoutWorkers(gateway)
  cursors = await cursorsOf(secret)
  const usage = await ask(baseUrl, '/usage', { secret })
  const reais = Math.trunc(usage.json.balance.balance_brl)
  balance = new RegExp(`(?<![\\w-])(${reais}|${reais - 1})(?![\\w-])`)
  assert.match(usage.text, balance)
  own = await readRowsOf(db, customerId)
  const { rows } = await sql<{ id: string }>`
    select id::text from api_keys where team_id = ${teamId}
    union all select id::text from team_invitations where team_id = ${teamId}
    union all select id::text from audit_log
      where customer_id = ${customerId} and actor_id <> customer_id`.execute(db)
  ofTeam = new Set([teamId, customerId, ...rows.map(({ id }) => id)])
  await watchChanges(db)
})
after(async () => {
  await app.close()
  await gateway.stop()
})

async function cursorsOf(secret: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const { method, path } of templates) {
    if (method !== 'GET' || /[$?]|^\/admin/.test(path)) continue
    const { json } = await ask(gateway.node.baseUrl, `${path}?limit=1`, { secret })
    if (typeof json?.next_cursor === 'string') found.set(path, json.next_cursor)
  }
  return found
}

function send(
  caller: Caller,
  { method, path, body, headers }: Omit<Filled, 'ids'>,
): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, {
    secret: caller.secret,
    method,
    body,
    ...(headers ? { headers } : {}),
  })
}

/** The words that a rank in the team may read: the name of the team, and for an administrator the invited addresses. */
function wordsFor({ rank }: Caller): readonly string[] {
  if (rank === undefined) return []
  return [`Equipe ${word}`, ...(rank === 'admin' ? [`amiga.${word}@example.com`] : [])]
}

/** The victim's ids and words in an answer, without those that the request named itself. */
function leaksIn(caller: Caller, answer: Asked, sent: string): string[] {
  const headers = [...answer.headers].map((each) => each.join(': '))
  let text = [answer.text, ...headers].join('\n')
  const shown = balance.exec(text)
  const given = sent.match(new RegExp(`[\\w.@-]*${word}[\\w.@-]*`, 'g')) ?? []
  for (const known of [...given, ...wordsFor(caller)]) text = text.replaceAll(known, '')
  const words = text.match(new RegExp(`.{0,40}${word}.{0,20}`, 'g')) ?? []
  const found = (text.match(UUID) ?? []).map(hyphened)
  const foreign = found
    .filter((id) => own.names.has(id) && !(caller.rank !== undefined && ofTeam.has(id)))
    .filter((id) => !sent.includes(id) && !sent.includes(plain(id)))
  return [...words, ...(shown ? [`the balance ${shown[0]}`] : []), ...foreign]
}

const plain = (id: string): string => id.replaceAll('-', '')
const hyphened = (id: string): string =>
  plain(id).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

async function changesOf(caller: Caller): Promise<string[]> {
  const changes = await takeChanges(gateway.database.db)
  return changes
    .filter(({ table, row }) => own.isOwn(row, table))
    .filter(({ table }) => !(caller.isTeamKey && MONEY_OF_CALLS.test(table)))
    .map(({ table, row }) => `${table} ${JSON.stringify(row).slice(0, 200)}`)
}

/** Fails with all that the answer shows and all that the request changed. */
async function assertNothing(
  caller: Caller,
  what: string,
  answer: Asked,
  sent: unknown,
): Promise<void> {
  const name = `${caller.name}, ${what}: ${answer.status}`
  assert.deepEqual(leaksIn(caller, answer, JSON.stringify(sent)), [], `${name} shows`)
  assert.deepEqual(await changesOf(caller), [], `${name} changes`)
}

const VOLATILE = /^(date|(x-(svc-)?)?request-id|x-ratelimit-(remaining|reset)|set-cookie)$/
const OF_A_CALL =
  /"(id|created|created_at|updated_at|slug|cost_billed_brl|request_id)":("[^"]*"|[\d.]+)/g

/** The answer without what differs between any two. */
function shapeOf(answer: Asked, given: readonly string[]): string {
  const headers = [...answer.headers].filter(([name]) => !VOLATILE.test(name))
  let text = [answer.status, ...headers.map((each) => each.join(': ')), answer.text].join('\n')
  for (const id of [...given, answer.requestId])
    text = text.replaceAll(id, 'ID').replaceAll(plain(id), 'ID')
  return text.replaceAll(OF_A_CALL, '"$1":…')
}

/** The other ranks' rights in a team are those of `teams.test.ts`. */
function isRightOfRank({ rank }: Caller, { name, path }: Template): boolean {
  if (BY_ADDRESS.has(name)) return true
  return rank !== undefined && rank !== 'former' && /^\/me\/(teams|invitations)/.test(path)
}

test("an id of a team owner's account, in any place of any operation, is answered as one of nobody, and changes nothing", async () => {
  let compared = 0
  for (const caller of callers)
    for (const template of templates) {
      if (isRightOfRank(caller, template) && template.method !== 'GET') continue
      const foreign = fill(template, (kind) => ids[kind] ?? assert.fail(`no id of ${kind}`))
      const answer = await send(caller, foreign)
      if (BY_ADDRESS.has(template.name)) continue
      await assertNothing(caller, template.name, answer, foreign)
      if (foreign.ids.length === 0 || isRightOfRank(caller, template)) continue
      // Operators alone get further, and may see everybody.
      if (template.path.startsWith('/admin/')) continue
      const unknown = fill(template, unknownId)
      const other = await send(caller, unknown)
      assert.equal(
        shapeOf(answer, foreign.ids),
        shapeOf(other, unknown.ids),
        `${caller.name}, ${template.name}: a foreign id is answered like an unknown one`,
      )
      compared += 1
    }
  // Nothing was left out by a change of the description.
  assert.ok(compared > 450, `${compared} pairs of answers were compared`)
})

test('nor do names of its requests and sessions, its cursors, tags and idempotency keys show or change anything', async () => {
  const { secret } = victim
  const key = { 'idempotency-key': 'a-mesma' }
  const saved = {
    method: 'POST',
    path: '/me/prompts',
    headers: key,
    body: JSON.stringify({ name: 'Resumo', body: `Resuma ${word}` }),
  }
  const first = await ask(gateway.node.baseUrl, saved.path, { ...saved, secret })
  assert.equal(first.status, 201, first.text)
  await takeChanges(gateway.database.db)
  assert.ok(cursors.size >= 5, [...cursors.keys()].join())
  const headers = { 'x-svc-request-id': String(ids.request), 'x-svc-session-id': victim.sessionId }
  const body = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Oi' }] }
  const named = { method: 'POST', path: '/chat/completions', headers, body: JSON.stringify(body) }
  const readings = [
    '/usage',
    '/usage/calls',
    '/usage/spend?by=session',
    `/me/sessions/${victim.sessionId}`,
  ]
  for (const caller of callers) {
    await assertNothing(
      caller,
      'names of a request and a session',
      await send(caller, named),
      named,
    )
    for (const path of readings) {
      const answer = await send(caller, { method: 'GET', path })
      await assertNothing(caller, `${path} afterwards`, answer, [path, headers])
    }
    for (const [path, cursor] of cursors) {
      const asked = { method: 'GET', path: `${path}?limit=200&cursor=${cursor}` }
      await assertNothing(caller, `a cursor of ${path}`, await send(caller, asked), asked)
    }
    const again = await send(caller, saved)
    assert.notEqual(again.json?.id, first.json.id, caller.name)
    await assertNothing(caller, 'an idempotency key', again, saved)
    for (const template of templates) {
      if (template.method !== 'GET' || !template.path.includes('$')) continue
      if (isRightOfRank(caller, template)) continue
      const asked = fill(template, (kind) => String(ids[kind]))
      const tagged = await send(caller, { ...asked, headers: { 'if-none-match': '*' } })
      assert.notEqual(tagged.status, 304, `${caller.name}, ${template.name}: a tag`)
    }
  }
})
