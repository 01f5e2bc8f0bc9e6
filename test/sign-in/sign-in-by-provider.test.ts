// deep: every provider with every kind of account
/** Signing in with an account at Google, GitHub or Microsoft is worth what the address is: proved, and its owner's. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { CURRENT_LEGAL_VERSION } from '../../src/customers/legal/legal-versions.ts'
import { findCustomer } from '../../src/customers/customers.ts'
import { ensureReferralCode } from '../../src/customers/referrals.ts'
import { PROVIDERS } from '../../src/identity/sign-in/providers.ts'
import { totpCode, totpStep } from '../../src/identity/sign-in/totp.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seal } from '../../src/platform/lib/seal.ts'
import { startGateway } from '../harness/gateway.ts'
import { enterByLink, openBrowser, type Browser, type Page } from '../harness/sign-in-browser.ts'
import { CLIENT, startFakeProviders, type Person } from './fake-providers.ts'

const providers = await startFakeProviders()
const clients = PROVIDERS.map((provider) => provider.toUpperCase()).flatMap((name) => [
  [`${name}_CLIENT_ID`, CLIENT.id],
  [`${name}_CLIENT_SECRET`, CLIENT.secret],
])
const sealingKey = randomBytes(32)
const gateway = await startGateway({
  SECRETS_KEY: sealingKey.toString('base64'),
  TRUST_PROXY: '127.0.0.1',
  ...(Object.fromEntries(clients) as Record<string, string>),
})
after(async () => {
  await gateway.stop()
  await providers.stop()
})
const { db } = gateway.database
const { baseUrl } = gateway.node

let addresses = 0
function freshAddress(): string {
  addresses += 1
  return `198.18.${addresses}.9`
}

function freshPerson(more: Partial<Person> = {}): Person {
  const id = createId()
  return { id, email: `pessoa-${id.slice(-12)}@exemplo.com.br`, isVerified: true, ...more }
}

function open(): Browser {
  return openBrowser(baseUrl, freshAddress())
}

async function begin(browser: Browser, provider: string, more: object = {}): Promise<string> {
  const begun = await browser.post('/auth/sign-in/provider', { provider, ...more })
  assert.equal(begun.status, 200, begun.text)
  return begun.json.url
}

/** As browsers follow a redirect of another site. */
const FROM_PROVIDER = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  referer: 'https://accounts.google.com/',
}

/** The whole way, from the button to the redirect that ends it. */
async function enter(
  provider: string,
  person: Person,
  {
    browser = open(),
    ...more
  }: { browser?: Browser; returnTo?: string; referralCode?: string } = {},
): Promise<{ browser: Browser; back: Page; location: string }> {
  const url = providers.agree(await begin(browser, provider, more), person)
  const back = await browser.get(`${url}&scope=email&authuser=0`, FROM_PROVIDER)
  assert.equal(back.status, 303, back.text)
  return { browser, back, location: back.headers.get('location') ?? '' }
}

async function isIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/v1/session')).status === 200
}

async function accountsOf(email: string): Promise<string[]> {
  const { rows } = await sql<{ provider: string }>`
    select a.provider_id as provider from sign_in_accounts a
    join sign_in_users u on u.id = a.user_id where u.email = ${email} order by 1`.execute(db)
  return rows.map(({ provider }) => provider)
}

/** Returns the secret of the app's codes. */
async function enableFactor(email: string): Promise<Buffer> {
  const [id, secret] = [createId(), randomBytes(20)]
  await sql`
    insert into sign_in_second_factors (id, user_id, secret_sealed, enabled_at)
    select ${id}, id, ${seal(sealingKey, id, secret)}, now() from sign_in_users where email = ${email}`.execute(
    db,
  )
  return secret
}

async function actsOf(customerId: string): Promise<string[]> {
  const { rows } = await sql<{ action: string }>`
    select action from audit_log where customer_id = ${customerId} order by id`.execute(db)
  return rows.map(({ action }) => action)
}

test('a new person gets an account, is led to the page they wanted, and must accept the terms as by a link', async () => {
  assert.deepEqual((await open().get('/auth/providers')).json, { providers: PROVIDERS })
  for (const provider of PROVIDERS) {
    const person = freshPerson()
    const { browser, location } = await enter(provider, person, { returnTo: '/uso?x=1#a' })
    assert.equal(location, '/uso?x=1#a', provider)
    const session = (await browser.get('/v1/session')).json
    assert.deepEqual(
      [session.customer.email, session.must_accept_terms],
      [person.email, true],
      provider,
    )
    const { id } = session.customer
    assert.deepEqual(await actsOf(id), ['customer.created', 'session.started'])
    // The next time it is the same account.
    const again = await enter(provider, person)
    assert.equal(again.location, '/')
    assert.equal((await again.browser.get('/v1/session')).json.customer.id, id)
    assert.deepEqual(await accountsOf(person.email), [provider])
  }
  assert.deepEqual([...new Set(providers.asked)].sort(), [
    'api.github.com /user',
    'api.github.com /user/emails',
    'github.com /login/oauth/access_token',
    'login.microsoftonline.com /common/oauth2/v2.0/token',
    'oauth2.googleapis.com /token',
  ])
})

test('who is referred begins with the code of the page, and the name of the provider', async () => {
  const { customerId } = await enterByLink(db, baseUrl, freshPerson().email, freshAddress())
  const referralCode = await ensureReferralCode(db, customerId)
  const person = freshPerson({ name: 'Ána '.repeat(60) })
  const { browser } = await enter('google', person, { referralCode })
  const { customer } = (await browser.get('/v1/session')).json
  assert.match(customer.name, /^Ána Ána/)
  const { rows } = await sql<{ id: string }>`
    select referrer_id as id from referrals where customer_id = ${customer.id}`.execute(db)
  assert.deepEqual(rows, [{ id: customerId }])
})

test('an account with a proved address is entered by a verified one, and its owner is warned once', async () => {
  for (const provider of PROVIDERS) {
    const person = freshPerson()
    const { customerId } = await enterByLink(db, baseUrl, person.email, freshAddress())
    const { browser } = await enter(provider, { ...person, email: person.email.toUpperCase() })
    assert.equal((await browser.get('/v1/session')).json.customer.id, customerId, provider)
    await enter(provider, person)
    const acts = await actsOf(customerId)
    assert.equal(acts.filter((act) => act === 'provider.linked').length, 1)
    assert.equal(acts.filter((act) => act === 'session.started').length, 3)
  }
})

test('an address that the provider has not verified makes no account and opens none, also not later', async () => {
  for (const provider of PROVIDERS) {
    const stranger = freshPerson({ isVerified: false })
    const refused = await enter(provider, stranger)
    assert.equal(refused.location, '/entrar?erro=email', provider)
    assert.ok(!(await isIn(refused.browser)))
    // The owner of the address comes: nothing of the stranger is with their account.
    await enterByLink(db, baseUrl, stranger.email, freshAddress())
    const again = await enter(provider, stranger)
    assert.match(again.location, /^\/entrar\?erro=/)
    assert.ok(!(await isIn(again.browser)))
    assert.deepEqual(await accountsOf(stranger.email), [])
  }
})

test('Google vouches for its own addresses only, and nobody for one beyond ASCII', async () => {
  const outside = freshPerson({ isOfWorkspace: false })
  await enterByLink(db, baseUrl, outside.email, freshAddress())
  const refused = await enter('google', outside)
  assert.equal(refused.location, '/entrar?erro=ligar')
  assert.ok(!(await isIn(refused.browser)))
  const own = freshPerson({
    email: `${createId().slice(-12)}@Gmail.com`,
    isOfWorkspace: false,
    name: 'Ana\nBcc: x',
  })
  const { browser } = await enter('google', own)
  assert.equal((await browser.get('/v1/session')).json.customer.name, 'Ana Bcc: x')
  for (const provider of PROVIDERS) {
    const known = freshPerson({ email: `kit-${createId().slice(-12)}@exemplo.com.br` })
    await enterByLink(db, baseUrl, known.email, freshAddress())
    for (const email of [known.email.replace('k', '\u212A'), `${known.email}\r\nBcc: y@z.w`]) {
      const other = await enter(provider, freshPerson({ email }))
      assert.match(other.location, /^\/entrar\?erro=/, provider)
      assert.ok(!(await isIn(other.browser)))
    }
  }
})

test('another account of a provider with the same address takes the place of the one before', async () => {
  for (const provider of PROVIDERS) {
    const person = freshPerson()
    const { customerId } = await enterByLink(db, baseUrl, person.email, freshAddress())
    await enter(provider, person)
    for (let times = 0; times < 2; times++) {
      const { browser } = await enter(provider, { ...freshPerson(), email: person.email })
      assert.ok(await isIn(browser), provider)
    }
    const acts = await actsOf(customerId)
    assert.equal(acts.filter((act) => act === 'provider.linked').length, 3)
    assert.deepEqual(await accountsOf(person.email), [provider])
  }
})

interface Linked {
  readonly provider: string
  readonly createdAt: string
}

/** Whoever unlinks, with what the page sends. */
async function ownerOf(email: string) {
  const entered = await enterByLink(db, baseUrl, email, freshAddress())
  const { browser, csrfToken, customerId } = entered
  return {
    browser,
    customerId,
    async linked(): Promise<string[]> {
      const accounts: Linked[] = (await browser.get('/auth/security')).json.linkedAccounts
      for (const { createdAt } of accounts) assert.ok(Date.parse(createdAt) <= Date.now() + 1000)
      return accounts.map(({ provider }) => provider)
    },
    unlink: (provider: string) =>
      browser.post('/auth/providers/unlink', { provider }, { 'x-csrf-token': csrfToken }),
  }
}

test('the accounts at providers are listed, and unlinking the last one locks nobody out', async () => {
  const person = freshPerson()
  for (const provider of PROVIDERS) await enter(provider, person)
  const owner = await ownerOf(person.email)
  assert.deepEqual(await owner.linked(), PROVIDERS)
  for (const [index, provider] of PROVIDERS.entries()) {
    assert.equal((await owner.unlink(provider)).status, 200)
    assert.deepEqual(await owner.linked(), PROVIDERS.slice(index + 1))
    const again = await owner.unlink(provider)
    assert.deepEqual([again.status, again.json.code], [404, 'PROVIDER_NOT_LINKED'])
  }
  const acts = await actsOf(owner.customerId)
  assert.equal(acts.filter((act) => act === 'provider.unlinked').length, 3)
  assert.deepEqual(await accountsOf(person.email), [])
  // Neither a password nor a passkey is left, and the way by mail is.
  const { customerId } = await enterByLink(db, baseUrl, person.email, freshAddress())
  assert.equal(customerId, owner.customerId)
})

test('an unlinked account is linked anew by its verified address only, with a warning, and asks for the second factor', async () => {
  for (const provider of PROVIDERS) {
    const person = freshPerson()
    const owner = await ownerOf(person.email)
    const opened = await enter(provider, person)
    assert.ok(await isIn(opened.browser), provider)
    assert.equal((await owner.unlink(provider)).status, 200)
    assert.ok(!(await isIn(opened.browser)), 'the session that the account opened ended')
    for (const moved of [
      { ...person, email: freshPerson().email },
      { ...person, isVerified: false },
    ]) {
      const { browser } = await enter(provider, moved)
      const session = await browser.get('/v1/session')
      assert.notEqual(session.json?.customer?.id, owner.customerId, provider)
      assert.deepEqual(await owner.linked(), [], provider)
    }
    const other = freshPerson({ email: person.email })
    await enableFactor(person.email)
    const { browser, location } = await enter(provider, other)
    assert.equal(location, '/entrar/codigo?voltar=%2F')
    assert.ok(!(await isIn(browser)))
    assert.deepEqual(await owner.linked(), [provider])
    const acts = (await actsOf(owner.customerId)).filter((act) => act.startsWith('provider.'))
    assert.deepEqual(acts, ['provider.linked', 'provider.unlinked', 'provider.linked'])
    const named = await sql<{ provider: string }>`
      select details ->> 'provider' as provider from audit_log
      where customer_id = ${owner.customerId} and action like 'provider.%'`.execute(db)
    assert.ok(named.rows.every((row) => row.provider === provider))
  }
})

test('nobody sees or unlinks the accounts of another, and a password is none of them', async () => {
  const [person, password] = [freshPerson(), freshPerson()]
  const owner = await ownerOf(person.email)
  await enter('github', person)
  const stranger = await ownerOf(password.email)
  await sql`
    insert into sign_in_accounts (id, user_id, provider_id, provider_account, password)
    select ${createId()}, id, 'credential', id::text, 'x' from sign_in_users
    where email = ${password.email}`.execute(db)
  assert.deepEqual(await stranger.linked(), [])
  for (const provider of ['github', 'credential', '']) {
    const refused = await stranger.unlink(provider)
    assert.deepEqual([refused.status, refused.json.code], [404, 'PROVIDER_NOT_LINKED'])
  }
  assert.deepEqual(await accountsOf(password.email), ['credential'])
  assert.deepEqual(await owner.linked(), ['github'])
})

test('an account whose own address was never proved is not taken over, and keeps its password out', async () => {
  const person = freshPerson()
  const other = open()
  const signedUp = await other.post('/auth/sign-up/email', {
    name: 'Outra',
    email: person.email,
    password: 'cavalo correto bateria',
    acceptedTerms: CURRENT_LEGAL_VERSION,
  })
  assert.equal(signedUp.status, 200)
  const { browser, location } = await enter('google', person)
  assert.equal(location, '/entrar?erro=ligar')
  assert.ok(!(await isIn(browser)))
  assert.equal(await findCustomer(db, person.email), undefined)
  assert.deepEqual(await accountsOf(person.email), ['credential'])
})

test('an account at a provider is a key only while it has the address', async () => {
  for (const provider of PROVIDERS) {
    const person = freshPerson()
    const { browser } = await enter(provider, person)
    const { customer } = (await browser.get('/v1/session')).json
    for (const moved of [
      { ...person, email: freshPerson().email },
      { ...person, isVerified: false },
    ]) {
      const refused = await enter(provider, moved)
      assert.match(refused.location, /^\/entrar\?erro=/, provider)
      assert.ok(!(await isIn(refused.browser)))
    }
    const { browser: back } = await enter(provider, person)
    assert.equal((await back.get('/v1/session')).json.customer.id, customer.id)
  }
})

test('a second factor is asked for, and until then the session is nobody’s', async () => {
  for (const provider of PROVIDERS) {
    const person = freshPerson()
    const { customerId } = await enterByLink(db, baseUrl, person.email, freshAddress())
    const secret = await enableFactor(person.email)
    const { browser, location } = await enter(provider, person, { returnTo: '/chaves' })
    assert.equal(location, '/entrar/codigo?voltar=%2Fchaves', provider)
    assert.ok(!(await isIn(browser)))
    const wrong = await browser.post('/auth/sign-in/code', { code: 'aaaa-bbbb-cccc-dddd' })
    assert.deepEqual([wrong.status, wrong.json.code], [400, 'INVALID_CODE'])
    assert.equal((await actsOf(customerId)).filter((act) => act === 'session.started').length, 1)
    const code = totpCode(secret, totpStep(Date.now()))
    assert.equal((await browser.post('/auth/sign-in/code', { code })).status, 200)
    assert.equal((await browser.get('/v1/session')).json.customer.id, customerId)
    assert.equal((await actsOf(customerId)).filter((act) => act === 'session.started').length, 2)
  }
})

test('a suspended account is entered as by the other ways: it sees why, and buys and calls nothing', async () => {
  const person = freshPerson()
  const { browser } = await enter('github', person)
  const { customer } = (await browser.get('/v1/session')).json
  await sql`
    update customers set suspended_at = now(), suspended_reason = 'operator', suspended_text = 'x'
    where id = ${customer.id}`.execute(db)
  const { browser: again } = await enter('github', person)
  assert.ok((await again.get('/v1/session')).json.suspension)
})

test('a way back counts once, in the browser that began it, with its own code', async () => {
  const person = freshPerson()
  const browser = open()
  const authorize = await begin(browser, 'google')
  const back = providers.agree(authorize, person)
  const thief = open()
  for (const url of [
    back,
    back.replace(/state=[^&]+/, 'state=outro'),
    back.replace(/&state=.*/, ''),
  ]) {
    const refused = await thief.get(url)
    assert.equal(refused.headers.get('location'), '/entrar?erro=falhou', url)
    assert.equal(thief.cookies.has('catraca.session_token'), false)
  }
  // Somebody else's way, begun in this browser: the code is of another challenge.
  const mixed = new URL(providers.agree(await begin(thief, 'google'), person))
  const own = new URL(providers.agree(await begin(browser, 'google'), person))
  own.searchParams.set('code', mixed.searchParams.get('code') ?? '')
  assert.equal((await browser.get(own.href)).headers.get('location'), '/entrar?erro=falhou')
  const fresh = providers.agree(await begin(browser, 'google'), person)
  const kept = browser.cookie()
  assert.equal((await browser.get(fresh)).headers.get('location'), '/')
  assert.ok(await isIn(browser))
  // With its cookie and a code that would be good: the state is used up.
  const replayed = new URL(fresh)
  replayed.searchParams.set(
    'code',
    new URL(providers.agree(authorize, person)).searchParams.get('code') ?? '',
  )
  const askedBefore = providers.asked.length
  const again = await open().get(replayed.href, { cookie: kept })
  assert.equal(again.headers.get('location'), '/entrar?erro=falhou')
  assert.equal(providers.asked.length, askedBefore)
})

test('the way back leads to a page of this site only, whatever the request or the provider says', async () => {
  for (const returnTo of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\nb'])
    assert.equal(
      (await open().post('/auth/sign-in/provider', { provider: 'google', returnTo })).status,
      400,
      returnTo,
    )
  const browser = open()
  const { searchParams } = new URL(
    await begin(browser, 'google', { callbackURL: 'https://evil.example' }),
  )
  const state = searchParams.get('state') ?? ''
  const more = 'error_description=https://evil.example&iss=https://evil.example'
  const denied = await browser.get(
    `/auth/callback/google?error=access_denied&state=${state}&${more}`,
  )
  assert.equal(denied.headers.get('location'), '/entrar?erro=cancelado')
  const strange = await browser.get(`/auth/callback/google?error=https://evil.example&${more}`)
  assert.equal(strange.headers.get('location'), '/entrar?erro=falhou')
})

test('pages of other sites, and ways that are not listed, begin nothing', async () => {
  const foreign = await open().post(
    '/auth/sign-in/provider',
    { provider: 'google' },
    { origin: 'https://evil.example' },
  )
  assert.equal(foreign.status, 403)
  for (const provider of ['apple', 'credential', '', 7])
    assert.notEqual((await open().post('/auth/sign-in/provider', { provider })).status, 200)
  for (const path of ['/auth/sign-in/social', '/auth/link-social', '/auth/unlink-account'])
    assert.equal(
      (await open().post(path, { provider: 'google', idToken: { token: 'x' } })).status,
      404,
    )
  assert.equal((await open().get('/auth/callback/apple?code=x&state=y')).status, 404)
})

test('without a client no way exists', async () => {
  const plain = await startGateway()
  try {
    const browser = openBrowser(plain.node.baseUrl)
    assert.deepEqual((await browser.get('/auth/providers')).json, { providers: [] })
    for (const provider of PROVIDERS) {
      assert.equal((await browser.post('/auth/sign-in/provider', { provider })).status, 404)
      assert.equal((await browser.get(`/auth/callback/${provider}?code=x&state=y`)).status, 404)
    }
  } finally {
    await plain.stop()
  }
})

test('no secret and no token of a provider is in the log or in the database', async () => {
  assert.ok(!gateway.node.log.join('\n').includes(CLIENT.secret))
  const { rows } = await sql<{
    row: string
  }>`select to_jsonb(a)::text as row from sign_in_accounts a`.execute(db)
  assert.ok(rows.length > 0)
  for (const { row } of rows) assert.doesNotMatch(row, /eyJ|access|refresh/)
})
