/** Login sessions apart from any route: where sign-in links lead, and which cookies are valid. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { createCustomer } from '../../src/customers/customers.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { limitAttempts } from '../../src/platform/admission/attempts.ts'
import { createSignIn, type SignIn } from '../../src/identity/sign-in/create-sign-in.ts'
import { holdActiveSession } from '../../src/identity/sign-in/sessions.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { waitForLink } from '../harness/sign-in-browser.ts'

const database = await createTestDatabase()
after(() => database.drop())
const { db } = database
const log = createLog('silent', () => {})
const sealingKey = randomBytes(32)
const PUBLIC_URL = 'https://painel.example.com'

function create(options: { publicUrl?: string; mode?: 'live'; key?: Buffer } = {}): SignIn {
  const { publicUrl, mode = 'sandbox', key = sealingKey } = options
  return createSignIn({ db, sealingKey: key, publicUrl, mode, log })
}

/** The cookie header of a person who signs in by a link. */
async function enter(signIn: SignIn, email: string, origin = PUBLIC_URL): Promise<string> {
  const auth = await signIn.authFor(origin)
  assert.ok(auth)
  const headers = new Headers({ 'x-catraca-client-ip': '198.51.100.1' })
  await auth.api.signInMagicLink({ body: { email }, headers })
  const { token } = await waitForLink(db, email, 'link_de_entrada')
  const answer = await auth.api.magicLinkVerify({ query: { token }, headers, asResponse: true })
  assert.equal(answer.status, 200)
  return answer.headers.getSetCookie()[0] as string
}

function freshEmail(): string {
  return `pessoa-${createId().slice(-12)}@exemplo.com.br`
}

test('over https the cookie is limited to this host and to secure connections', async () => {
  const signIn = create({ publicUrl: PUBLIC_URL })
  const line = await enter(signIn, freshEmail())
  assert.match(line, /^__Host-catraca\.session_token=/)
  for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/'])
    assert.ok(line.split('; ').includes(attribute), attribute)
  assert.doesNotMatch(line, /domain/i)
  assert.ok(await signIn.findSession(`a=b; ${line.split(';')[0]}; c=d`))
})

test('links lead to the public address, whatever host a request names', async () => {
  const email = freshEmail()
  await enter(create({ publicUrl: PUBLIC_URL }), email, 'https://evil.example')
  const { url } = await waitForLink(db, email, 'link_de_entrada')
  assert.equal(new URL(url).origin, PUBLIC_URL)
})

test('in live mode nobody can sign in until the public address is configured', async () => {
  assert.equal(await create({ mode: 'live' }).authFor('https://evil.example'), undefined)
  assert.ok(await create({ mode: 'live', publicUrl: PUBLIC_URL }).authFor('https://evil.example'))
})

test('a cookie signed with another key and an expired cookie are not signed in', async () => {
  const signIn = create({ publicUrl: PUBLIC_URL })
  const cookie = (await enter(signIn, freshEmail())).split(';')[0]
  const session = await signIn.findSession(cookie)
  assert.ok(session)
  assert.equal(await create({ key: randomBytes(32) }).findSession(cookie), undefined)
  assert.ok(await create().findSession(cookie), 'on another node with the same key it is the same')
  await sql`update sign_in_sessions set expires_at = now() where id = ${session.id}`.execute(db)
  assert.equal(await signIn.findSession(cookie), undefined)
  assert.equal(await holdActiveSession(db, session.id), false)
})

test('a token is valid for one session and one key only', () => {
  const [one, two] = [createId(), createId()]
  const signIn = create()
  assert.ok(signIn.isCsrfToken(one, signIn.csrfTokenOf(one)))
  for (const wrong of [signIn.csrfTokenOf(two), '', undefined, ['x'], one])
    assert.equal(signIn.isCsrfToken(one, wrong), false)
  assert.equal(create({ key: randomBytes(32) }).isCsrfToken(one, signIn.csrfTokenOf(one)), false)
})

test('concurrent first sign-ins of one person create one customer', async () => {
  const signIn = create({ publicUrl: PUBLIC_URL })
  const email = freshEmail()
  const auth = await signIn.authFor(PUBLIC_URL)
  assert.ok(auth)
  const { internalAdapter } = await auth.$context
  const id = createId()
  const user = { id, email, name: 'Muitas vezes', is_verified: true, referral_code: null }
  await db.insertInto('sign_in_users').values(user).execute()
  await Promise.all(Array.from({ length: 5 }, () => internalAdapter.createSession(id)))
  const { rows } = await sql`select id from customers where email = ${email}`.execute(db)
  assert.equal(rows.length, 1)
})

test('a session acts for the customer with the verified e-mail, and for nobody once that customer is gone', async () => {
  const signIn = create({ publicUrl: PUBLIC_URL })
  const email = freshEmail()
  const cookie = (await enter(signIn, email)).split(';')[0]
  const first = await signIn.findSession(cookie)
  await sql`update customers set email = null where id = ${first?.customerId}`.execute(db)
  assert.equal(await signIn.findSession(cookie), undefined)
  const made = await createCustomer(db, { name: 'Nova dona', email: email.toUpperCase() })
  assert.ok('id' in made)
  assert.equal((await signIn.findSession(cookie))?.customerId, made.id)
})

test('concurrent attempts are all counted, and a new window begins after the old one ends', async () => {
  const limit = { max: 3, seconds: 60 }
  const tries = await Promise.all(
    Array.from({ length: 8 }, () => limitAttempts(db, 'muitos', limit)),
  )
  assert.equal(tries.filter((retryAfter) => retryAfter === undefined).length, 3)
  for (const retryAfter of tries) assert.ok(retryAfter === undefined || retryAfter <= 60)
  await sql`update sign_in_attempts set ends_at = now()`.execute(db)
  assert.equal(await limitAttempts(db, 'muitos', limit), undefined)
})
