// deep: every operation as a stranger
/**
 * No customer reaches what is another's: every operation of `/v1/openapi.json` is called by strangers with the
 * ids of a customer who owns one of everything. At the end the owner makes the same calls, and they succeed:
 * it was not the request that was wrong. A new operation, parameter or field that has no entry in
 * `isolation-cases/requests.ts` fails.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { rejectRefund } from '../../src/money/payments/refunds/decide-refund.ts'
import { restartWithoutWorkers } from './app-without-workers.ts'
import { enterByLink } from '../harness/sign-in-browser.ts'
import { APPROVED, cardBody } from '../harness/cards.ts'
import { askChat, ask, sound, type Asked } from '../harness/ask.ts'
import { openTestLedger } from '../harness/open-test-ledger.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { chatLine, uploadLines } from '../harness/batches.ts'
import { seedRefusals } from '../harness/seed-refusals.ts'
import { startGateway } from '../harness/gateway.ts'
import {
  createCaller,
  createHousehold,
  createPerson,
  MARK,
  type Person,
} from './isolation-cases/household.ts'
import {
  hasParameter,
  HIDDEN,
  PARAMETERS,
  requestsOf,
  sendHidden,
} from './isolation-cases/hidden-routes.ts'
import {
  ADMIN,
  bodyFor,
  FILTERS,
  FORM_TYPE,
  NAMED,
  pathFor,
  PUBLIC,
  SHOWS_CUSTOMER,
  uncovered,
} from './isolation-cases/requests.ts'
import { createSnapshots, idsIn, rowsWithout } from './isolation-cases/snapshot.ts'
import { isModelCall, operationsOf, readOpenApi, type Operation } from '../harness/operations.ts'

const ADMIN_EMAIL = 'administradora@exemplo.com.br'

const ENV = { ADMIN_EMAILS: ADMIN_EMAIL, REFUND_REVIEW_ABOVE_BRL: '0' }

const gateway = await startGateway(ENV)
let app: { close(): Promise<void> } | undefined
after(async () => {
  await app?.close()
  await gateway.stop()
})
const { baseUrl } = gateway.node
const { db } = gateway.database
const household = await createHousehold(gateway)
// Background jobs would change rows meanwhile, and their changes cannot be distinguished from a request's.
app = await restartWithoutWorkers(gateway, ENV)
const operations = [...operationsOf(await readOpenApi(baseUrl)).values()]
const admin = {
  ...(await createPerson(gateway.database, 'Administradora')),
  secret: '',
}
admin.secret = await openOperatorSession(
  { db, dataDir: gateway.node.dataDir },
  admin.customerId,
  ADMIN_EMAIL,
)
const takeSnapshot = createSnapshots(db)
/** Rows that must never change by what strangers do. */
let standing = await takeSnapshot()
const owned = [
  ...idsIn(standing),
  household.ids.image,
  household.ids.response,
  household.ids.file,
  household.ids.batch,
  household.ids.messageBatch,
  household.ids.video,
  ...Object.values(household.secrets),
  MARK,
]

const needKey = operations.filter(({ described }) => described.security !== undefined)
/** What operators may do is forbidden to everybody else, whosever id it names. */
const ofCustomers = needKey.filter(({ name }) => !ADMIN.includes(name))
const withIds = ofCustomers.filter(({ path }) => path.includes('{'))
const withoutIds = needKey.filter(({ path }) => !path.includes('{'))

let strangers = 0

/** Callers with resources, so that the lists that they may read are not empty. */
/** With an automatic top-up for what is done to the one that there is. */
async function createStranger({ path = '' }: { readonly path?: string } = {}): Promise<
  Person & { promptId: string; teamId: string }
> {
  const stranger = await createPerson(gateway.database, `Estranho ${++strangers}`)
  const call = createCaller(gateway, stranger.secret)
  await call('PUT', '/me/profile', { full_name: 'Estranho', cpf_cnpj: '11144477735' })
  const prompt = await call('POST', '/me/prompts', { name: 'Meu', body: 'Olá' })
  const team = await call('POST', '/me/teams', { name: 'Minha' })
  const answer = await askChat(baseUrl, stranger.secret, sound(), { 'x-svc-session-id': 'minha' })
  assert.equal(answer.status, 200)
  await seedRefusals(gateway.database.db, {
    customerId: stranger.customerId,
    apiKeyId: stranger.keyId,
    rows: [{ at: new Date(), code: 'model_not_found', status: 404, refusals: 1 }],
  })
  const made = { ...stranger, promptId: prompt.id, teamId: team.id }
  if (path === '/batches')
    return {
      ...made,
      fileId: (await uploadLines(baseUrl, stranger.secret, [chatLine('um')])).json.id,
    }
  if (path !== '/topups/automatic') return made
  const { id: cardId } = await call('POST', '/payment-methods', cardBody(APPROVED))
  const fields = { threshold_brl: 1, amount_brl: 20, payment_method_id: cardId }
  await call('PUT', '/topups/automatic', fields)
  return { ...made, cardId }
}

function callBy(
  caller: Person,
  operation: Operation,
  more: {
    path?: string
    body?: unknown
    secret?: string | undefined
    headers?: Record<string, string>
  } = {},
): Promise<Asked> {
  const { method, described } = operation
  const isForm = 'multipart/form-data' in (described.requestBody?.content ?? {})
  return ask(baseUrl, more.path ?? pathFor(operation, household), {
    method,
    secret: 'secret' in more ? more.secret : caller.secret,
    body: more.body ?? bodyFor(operation, caller, household),
    headers: { ...(isForm ? { 'content-type': FORM_TYPE } : {}), ...more.headers },
  })
}

function assertNotFound(answer: Asked, { name, described }: Operation): void {
  assert.equal(answer.status, 404, `${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
  const code = codeOf(answer)
  assert.match(code, /^[a-z_]+_not_found$/, name)
  assert.ok(described.responses['404']?.description.includes(code), name)
}

/** In either format of errors. */
/** Of an answer without a refusal it is undefined, which a case may ask for. */
function codeOf({ json }: Asked): string {
  return json.error?.code ?? json.error
}

/** But what was sent, which may be said again. */
function assertRevealsNothing(answer: Pick<Asked, 'headers' | 'text'>, sent = ''): void {
  const headers = JSON.stringify([...answer.headers])
  const found = owned.filter((text) => `${answer.text} ${headers}`.includes(text))
  assert.deepEqual(
    found.filter((text) => !sent.includes(text)),
    [],
    answer.text.slice(0, 500),
  )
}

/** Each changed row is reported once, at the request that changed it. */
async function assertOwnedIsThere(what: string): Promise<void> {
  const now = await takeSnapshot()
  const gone = rowsWithout(standing, now)
  standing = new Set([...standing].filter((row) => now.has(row)))
  assert.deepEqual(gone, [], `${what} changed`)
}

/** Nothing is changed by it, of nobody. */
async function unchanged(what: string, work: () => Promise<void>): Promise<void> {
  const before = await takeSnapshot()
  await work()
  const later = await takeSnapshot()
  assert.deepEqual(rowsWithout(before, later), [], `${what} changed or removed`)
  assert.deepEqual(rowsWithout(later, before), [], `${what} added`)
}

test('every operation, parameter and field has its entry here', () => {
  assert.deepEqual(operations.flatMap(uncovered), [])
  const open = operations.filter(({ described }) => described.security === undefined)
  assert.deepEqual(open.map(({ name }) => name).sort(), PUBLIC)
  const ofAdmins = operations.filter(({ path }) => path.startsWith('/admin/'))
  assert.deepEqual(ofAdmins.map(({ name }) => name).sort(), ADMIN)
})

test('without a key only public data is available', async () => {
  for (const operation of operations) {
    await unchanged(operation.name, async () => {
      const answer = await callBy(household.owner, operation, { secret: undefined })
      if (PUBLIC.includes(operation.name)) {
        assert.equal(answer.status, 200, operation.name)
        // The owner shows these charges; `public-bills.test.ts` says what of them.
        if (operation.name === 'GET /public-bills/{token}') return
        return assertRevealsNothing(answer)
      }
      assert.equal(answer.status, 401, operation.name)
      if (isModelCall(operation)) assert.equal(answer.json.error.code, 'authentication_failed')
      else assert.equal(answer.text, '', operation.name)
    })
  }
})

test("another customer's ids are not found, and nothing changes", async (t) => {
  const stranger = await createStranger()
  const { member, removedMember } = household
  const callers: [string, Person][] = [
    ['a stranger', stranger],
    ['who was of the team', removedMember],
    ['who is of the team', member],
  ]
  for (const operation of withIds) {
    for (const [who, caller] of callers) {
      if (caller === member && operation.path.startsWith('/me/teams/')) continue
      await t.test(`${operation.name}, by ${who}`, () =>
        unchanged(operation.name, async () => {
          const answer = await callBy(caller, operation)
          assertNotFound(answer, operation)
          assertRevealsNothing(answer, pathFor(operation, household))
        }),
      )
    }
  }
})

test("operators' routes are forbidden even to the owner of an id, and nothing changes", async (t) => {
  const { owner } = household
  for (const operation of needKey.filter(({ name }) => ADMIN.includes(name))) {
    await t.test(operation.name, () =>
      unchanged(operation.name, async () => {
        const answer = await callBy(owner, operation)
        assert.deepEqual([answer.status, answer.json], [403, { error: 'forbidden' }])
      }),
    )
  }
})

test("a cookie without its session's CSRF token changes nothing and calls no model", async (t) => {
  const { browser } = await enterByLink(db, baseUrl, household.owner.email)
  const headers = { cookie: browser.cookie() }
  const changing = needKey.filter(({ method }) => method !== 'GET')
  assert.ok(changing.length > 40)
  for (const operation of changing) {
    await t.test(operation.name, () =>
      unchanged(operation.name, async () => {
        const answer = await callBy(household.owner, operation, { secret: undefined, headers })
        // Batches are read and made as any resource, although in the formats of calls.
        const isCall = isModelCall(operation) && !/\/(files|batches)\b/.test(operation.path)
        if (isCall && operation.method === 'POST') return assert.equal(answer.status, 401)
        assert.deepEqual([answer.status, codeOf(answer)], [403, 'csrf_token_missing'])
      }),
    )
  }
})

test("in another customer's session the owner's ids are not found, and nothing changes", async (t) => {
  const stranger = await createStranger()
  const { browser, csrfToken } = await enterByLink(db, baseUrl, stranger.email)
  const headers = { cookie: browser.cookie(), 'x-csrf-token': csrfToken }
  for (const operation of withIds) {
    await t.test(operation.name, () =>
      unchanged(operation.name, async () => {
        const answer = await callBy(stranger, operation, { secret: undefined, headers })
        assertNotFound(answer, operation)
        assertRevealsNothing(answer, pathFor(operation, household))
      }),
    )
  }
  const lists = withoutIds.filter(({ method }) => method === 'GET')
  for (const operation of lists) {
    const answer = await callBy(stranger, operation, { secret: undefined, headers })
    assert.equal(answer.status === 403, ADMIN.includes(operation.name), operation.name)
    assertRevealsNothing(answer)
  }
})

test('each hidden route with a parameter has its entry here', () => {
  assert.ok(HIDDEN.length > 40, `${HIDDEN.length} routes`)
  const open = HIDDEN.filter(({ url }) => hasParameter(url)).map(({ url }) => url)
  assert.deepEqual(Object.keys(PARAMETERS).sort(), [...new Set(open)].sort())
})

test("hidden routes show and change nothing of the owner's, to nobody and to a stranger", async (t) => {
  const stranger = await createStranger()
  const { browser, csrfToken } = await enterByLink(db, baseUrl, stranger.email)
  const signedIn = { cookie: browser.cookie(), 'x-csrf-token': csrfToken }
  for (const route of HIDDEN) {
    await t.test(route.name, async () => {
      for (const headers of [{}, signedIn]) {
        for (const request of requestsOf(route, household, headers)) {
          const answer = await sendHidden(baseUrl, request)
          const seen = `${request.path}: ${answer.status} ${answer.text.slice(0, 300)}`
          // A clone without a build says how to make one.
          const isUnbuilt = answer.status === 503 && seen.includes('npm run web:build')
          assert.ok(answer.status < 500 || isUnbuilt, seen)
          const mayEnter = route.access !== 'session' || headers === signedIn
          assert.ok(mayEnter || answer.status >= 300, seen)
          if (route.access === 'signed') assert.ok(answer.status >= 400, seen)
          assertRevealsNothing(answer, `${request.path} ${request.body ?? ''}`)
        }
      }
      await assertOwnedIsThere(route.name)
    })
  }
})

test("another customer's nested resources are not found under own resources", async (t) => {
  const stranger = await createStranger()
  const own = { '/me/teams/{id}': stranger.teamId }
  const nested = withIds.filter(({ path }) => path.split('{').length > 2)
  assert.ok(nested.length >= 4)
  for (const operation of nested) {
    await t.test(operation.name, () =>
      unchanged(operation.name, async () => {
        const path = pathFor(operation, household, own)
        const answer = await callBy(stranger, operation, { path })
        assertNotFound(answer, operation)
        assertRevealsNothing(answer, path)
      }),
    )
  }
})

test("a body that names another customer's resource is refused, and nothing changes", async (t) => {
  const stranger = await createStranger()
  const ids = { '/me/prompts/{id}': stranger.promptId }
  for (const [entry, { body, status, error }] of Object.entries(NAMED)) {
    const name = entry.split(' ').slice(0, 2).join(' ')
    const operation = operations.find((one) => one.name === name)
    assert.ok(operation, entry)
    const sent = { ...(bodyFor(operation, stranger, household) as object), ...body(household) }
    if ('ids' in sent && 'all' in sent) delete sent.all
    await t.test(entry, () =>
      unchanged(entry, async () => {
        const path = pathFor(operation, household, ids)
        const answer = await callBy(stranger, operation, { path, body: sent })
        assert.equal(answer.status, status, answer.text)
        assert.equal(codeOf(answer), error)
        assertRevealsNothing(answer, JSON.stringify(sent))
      }),
    )
  }
})

test("a bulk revocation that includes another customer's key does nothing to it", async () => {
  const stranger = await createStranger()
  const body = { ids: [household.ids.key] }
  await unchanged('bulk-revoke', async () => {
    const options = { secret: stranger.secret, body }
    const answer = await ask(baseUrl, '/api-keys/bulk-revoke', options)
    assert.deepEqual(answer.json, { revoked: 0, alreadyInactive: 0, gatewayFailures: 0 })
  })
})

/** Every customer here has had a credit: test/http/trial-credit.test.ts. */
const FOR_NEW_CUSTOMERS = 'POST /me/trial-credit'

test('without ids, every customer reads and changes only their own data', async (t) => {
  for (const operation of withoutIds) {
    // The token is the guest's; a stranger with it is above.
    if (operation.name === 'POST /me/invitations/accept') continue
    if (operation.name === FOR_NEW_CUSTOMERS) continue
    const stranger = await createStranger(operation)
    await t.test(operation.name, async () => {
      const answer = await callBy(stranger, operation)
      const isForbidden = ADMIN.includes(operation.name)
      const seen = `${operation.name}: ${answer.status} ${answer.text.slice(0, 300)}`
      assert.equal(isDone(answer), !isForbidden, seen)
      if (isForbidden) assert.equal(answer.json.error, 'forbidden')
      assertRevealsNothing(answer)
      await assertOwnedIsThere(operation.name)
    })
  }
})

test("lists filtered by another customer's ids are empty", async (t) => {
  const stranger = await createStranger()
  const filters = ofCustomers.flatMap((operation) =>
    (operation.described.parameters ?? [])
      .filter((one) => one.in === 'query' && one.name in FILTERS)
      .map(({ name }) => ({ operation, name })),
  )
  assert.ok(filters.length >= 2)
  for (const { operation, name } of filters) {
    await t.test(`${operation.name} by ${name}`, async () => {
      const path = `${operation.path}?${name}=${FILTERS[name]?.(household)}`
      const [all, theirs, owners] = await Promise.all([
        callBy(stranger, operation),
        callBy(stranger, operation, { path }),
        callBy(household.owner, operation, { path }),
      ])
      assert.ok(lengthOf(all) > 0, 'the stranger has things, too')
      assert.equal(lengthOf(theirs), 0, theirs.text)
      assert.ok(lengthOf(owners) > 0, 'the owner finds them')
    })
  }
})

test("another customer's cursor continues the own list and shows none of their rows", async (t) => {
  const stranger = await createStranger()
  const lists = ofCustomers.filter(({ described }) =>
    described.parameters?.some((one) => one.in === 'query' && one.name === 'cursor'),
  )
  assert.ok(lists.length >= 5)
  for (const operation of lists) {
    await t.test(operation.name, async () => {
      const owners = await callBy(household.owner, operation, {
        path: `${pathFor(operation, household)}?limit=1`,
      })
      const cursor = owners.json.next_cursor as string
      assert.equal(typeof cursor, 'string', `${operation.name}: the owner has but one`)
      const path = `${pathFor(operation, household)}?cursor=${cursor}`
      const answer = await callBy(stranger, operation, { path })
      if (operation.path.includes('{')) assertNotFound(answer, operation)
      else assert.equal(answer.status, 200, answer.text)
      assertRevealsNothing(answer, path)
    })
  }
})

test("a team's key is for model calls only", async (t) => {
  const { teamKey } = household.secrets
  for (const operation of needKey.filter((one) => !isModelCall(one))) {
    await t.test(operation.name, () =>
      unchanged(operation.name, async () => {
        const answer = await callBy(household.owner, operation, { secret: teamKey })
        assert.equal(answer.status, 403, answer.text)
        assert.equal(answer.json.error, 'forbidden')
        assertRevealsNothing(answer)
      }),
    )
  }
})

test("a removed member's key is refused, and the team is not found", async () => {
  const answer = await askChat(baseUrl, household.secrets.removedMembersTeamKey, sound())
  assert.equal(answer.status, 401)
  const { secret } = household.removedMember
  const teams = await ask(baseUrl, '/me/teams', { secret })
  assert.deepEqual(teams.json.teams, [])
})

test("a call with another customer's session id or request id belongs to its caller alone", async () => {
  const stranger = await createStranger()
  const { session, request } = household.ids
  const answer = await askChat(baseUrl, stranger.secret, sound(), {
    'x-svc-session-id': session,
    'x-svc-request-id': request,
  })
  assert.equal(answer.status, 200, answer.text)
  await assertOwnedIsThere('the session')
  const own = await ask(baseUrl, `/me/sessions/${session}`, { secret: stranger.secret })
  assert.equal(own.json.request_count, 1)
  const { secret } = household.owner
  const owners = await ask(baseUrl, `/me/sessions/${session}`, { secret })
  assert.equal(owners.json.request_count, 2)
})

test("after all of these requests, the owner's rows are unchanged", () =>
  assertOwnedIsThere('a row'))

// From here on the owner's things change.
test('the owner makes the same calls, and they succeed', async (t) => {
  const { owner, guest } = household
  for (const operation of [...operations].sort((one, other) => turnOf(one) - turnOf(other))) {
    await t.test(operation.name, async () => {
      // The panic pauses the key that asks for it.
      const isGuests =
        operation.path.startsWith('/me/invitations/') || operation.path === '/me/panic'
      const caller = ADMIN.includes(operation.name) ? admin : isGuests ? guest : owner
      const isBulk = operation.name === 'POST /api-keys/bulk-revoke'
      const body = isBulk ? { ids: [household.ids.key] } : undefined
      if (operation.name === 'DELETE /me') {
        await rejectWaitingRefunds(owner.customerId)
        await endVideos(owner.customerId)
      }
      const answer = await callBy(caller, operation, { body })
      if (operation.name === FOR_NEW_CUSTOMERS) return assert.equal(answer.status, 409)
      assert.ok(isDone(answer), `${answer.status} ${answer.text}`)
      if (ADMIN.includes(operation.name) && SHOWS_CUSTOMER.test(operation.path))
        assert.match(answer.text, new RegExp(owner.customerId))
    })
  }
})

/** An account is not deleted while a refund is in review. */
async function rejectWaitingRefunds(customerId: string): Promise<void> {
  const waiting = db
    .selectFrom('refunds')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'requested')
  for (const { id } of await waiting.execute())
    await rejectRefund(db, OPERATOR, { refundId: id, note: 'não' })
}

/** Nor while a video is made, which no job does here. */
async function endVideos(customerId: string): Promise<void> {
  const { ledger } = await openTestLedger(db, gateway.database.databaseUrl)
  const held = db.selectFrom('holds').select('id').where('customer_id', '=', customerId)
  for (const { id } of await held.execute())
    await ledger.resolve(release({ id, customerId }, 'video_failed'))
  await ledger.close()
}

/** What ends things comes last, the parts before the whole. */
function turnOf({ name, method, path }: Operation): number {
  if (name === 'DELETE /me') return 100
  if (path === '/api-keys/bulk-revoke' || path === '/me/panic') return 50
  return method === 'DELETE' ? 40 - path.split('/').length : method === 'GET' ? 0 : 1
}

function isDone({ status }: Asked): boolean {
  return status >= 200 && status < 300
}

/** Of all lists that an answer has. */
function lengthOf({ json }: Asked): number {
  const lists = Object.values(json as object).filter((value) => Array.isArray(value))
  assert.ok(lists.length > 0)
  return lists.flat().length
}
