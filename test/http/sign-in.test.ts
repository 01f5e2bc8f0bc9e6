// deep: every way in, with its mails and its limits
/** People sign in: they prove an e-mail, act for the customer who has it, and nobody does who proved nothing. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createCustomer, findCustomer } from '../../src/customers/customers.ts'
import { ensureReferralCode } from '../../src/customers/referrals.ts'
import { CURRENT_LEGAL_VERSION } from '../../src/customers/legal/legal-versions.ts'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { createConfirmTokens } from '../../src/identity/sign-in/create-auth.ts'
import { pruneSignIn } from '../../src/identity/sign-in/sessions.ts'
import { startLocalNode } from '../harness/local-node.ts'
import {
  enterByLink,
  findLink,
  openBrowser,
  waitForLink,
  type Browser,
  type Page,
} from '../harness/sign-in-browser.ts'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const ADMIN_EMAIL = 'chefe@exemplo.com.br'
const ENV = {
  ADMIN_EMAILS: ADMIN_EMAIL,
  SECRETS_KEY: randomBytes(32).toString('base64'),
  TRUST_PROXY: '127.0.0.1',
}
const PASSWORD = 'cavalo correto bateria'

const gateway = await startGateway(ENV)
const other = await startLocalNode({
  databaseUrl: gateway.database.databaseUrl,
  env: { ...ENV, PUBLIC_URL: 'https://painel.example.com' },
})
after(async () => {
  await other.stop()
  await other.remove()
  await gateway.stop()
})
const { db } = gateway.database
const { baseUrl } = gateway.node

let addresses = 0

/** Each test uses a separate address, so that no test is rate-limited because of another. */
function freshAddress(): string {
  addresses += 1
  return `198.18.${addresses}.7`
}

function open(): Browser {
  return openBrowser(baseUrl, freshAddress())
}

function freshEmail(): string {
  return `pessoa-${createId().slice(-12)}@exemplo.com.br`
}

function signUp(browser: Browser, email: string, more: object = {}): Promise<Page> {
  return browser.post('/auth/sign-up/email', {
    name: 'Ana',
    email,
    password: PASSWORD,
    acceptedTerms: CURRENT_LEGAL_VERSION,
    ...more,
  })
}

async function countOf(table: string, email: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from ${sql.table(table)} where lower(email) = ${email}`.execute(db)
  return Number(rows[0]?.count)
}

/** By a link, which takes no password to be hashed. */
function enter(email = freshEmail()) {
  return enterByLink(db, baseUrl, email, freshAddress())
}

/** Signed up with a password, confirmed, and in. */
async function createPerson(email = freshEmail(), more: object = {}) {
  const browser = open()
  const signedUp = await signUp(browser, email, more)
  assert.equal(signedUp.status, 200, signedUp.text)
  const { url, token } = await waitForLink(db, email, 'confirmar_email')
  const confirmed = await browser.submit(url, { token, password: PASSWORD })
  assert.equal(confirmed.status, 303, confirmed.text)
  return { browser, email, confirmed }
}

test('a sign-up sends a mail; its link and the password open a session of a new customer', async () => {
  const email = freshEmail()
  const browser = open()
  const signedUp = await signUp(browser, email.toUpperCase())
  assert.equal(signedUp.status, 200, signedUp.text)
  assert.equal(browser.cookies.size, 0)
  const { url, path, token } = await waitForLink(db, email, 'confirmar_email')
  assert.equal(path, '/auth/confirm')
  assert.equal((await browser.get(url)).status, 200)
  assert.equal(await countOf('customers', email), 0, 'following the link changes nothing')
  const confirmed = await browser.submit(url, { token, password: PASSWORD })
  assert.equal(confirmed.status, 303, confirmed.text)
  const [line = '', ...more] = confirmed.headers.getSetCookie()
  assert.equal(more.length, 0)
  assert.match(line, /^catraca\.session_token=/)
  assert.match(line, /; HttpOnly/)
  assert.match(line, /; SameSite=Lax/)
  const session = await browser.get('/v1/session')
  assert.equal(session.status, 200)
  assert.equal(session.headers.get('cache-control'), 'no-store')
  const customer = await findCustomer(db, email)
  assert.ok(customer)
  assert.deepEqual(session.json.customer, { id: customer.id, name: 'Ana', email })
  assert.equal(session.json.is_admin, false)
  assert.equal(session.json.mode, 'sandbox')
  const acts = await db
    .selectFrom('audit_log')
    .select(['action', 'ip'])
    .where('actor_id', '=', customer.id)
    .orderBy('id')
    .execute()
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['customer.created', 'terms.accepted', 'session.started'],
  )
  assert.equal(session.json.must_accept_terms, false)
  assert.match(acts[0]?.ip ?? '', /^198\.18\./)
})

test('who signs up in English gets its mails in English, and an account in English', async () => {
  const subjectsOf = async (email: string, count: number): Promise<string[]> => {
    for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
      const { rows } = await sql<{ subject: string }>`
        select subject from sandbox_mails where email = ${email} order by created_at`.execute(db)
      if (rows.length >= count || Date.now() > deadline)
        return rows.map(({ subject }) => subject.replace(/^\[[^\]]*\] /, ''))
    }
  }
  for (const [headers, locale, confirm, welcome] of [
    [{ 'accept-language': 'en-US,en' }, 'en-US', 'Confirm your email', 'Welcome'],
    [{ cookie: 'catraca.language=en-US' }, 'en-US', 'Confirm your email', 'Welcome'],
    [{}, 'pt-BR', 'Confirme o seu e-mail', 'Boas-vindas'],
  ] as const) {
    const email = freshEmail()
    const browser = open()
    const fields = { name: 'Eva', email, password: PASSWORD }
    const asked = { ...fields, acceptedTerms: CURRENT_LEGAL_VERSION }
    assert.equal((await browser.post('/auth/sign-up/email', asked, headers)).status, 200)
    assert.deepEqual(await subjectsOf(email, 1), [confirm])
    const signedIn = await signInWithLink(browser, email, headers)
    assert.equal(signedIn.json.preferred_locale, locale)
    assert.ok((await subjectsOf(email, 3)).includes(welcome))
  }
})

/** By a link, in the language of these headers. */
async function signInWithLink(
  browser: Browser,
  email: string,
  headers: Record<string, string>,
): Promise<Page> {
  await browser.post('/auth/sign-in/magic-link', { email }, headers)
  const found = async (): Promise<string | undefined> => {
    const { rows } = await sql<{ text: string }>`
      select text from sandbox_mails where email = ${email} and text like '%/auth/link?%'`.execute(
      db,
    )
    return /https?:\S+\/auth\/link\S+/.exec(rows[0]?.text ?? '')?.[0]
  }
  let url = await found()
  for (const deadline = Date.now() + 30_000; url === undefined && Date.now() < deadline;)
    url = await sleep(20).then(found)
  assert.ok(url)
  const token = new URL(url).searchParams.get('token') ?? ''
  await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token }),
    headers: { origin: browser.origin, ...headers },
  }).then((answer) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      browser.cookies.set(name, value)
    }
  })
  return browser.get('/v1/me/preferences')
}

test('a sign-up requires acceptance of the current terms; a customer who signed in by link accepts them in the session', async () => {
  const email = freshEmail()
  for (const acceptedTerms of [undefined, '2020-01-01', true]) {
    const refused = await signUp(open(), email, { acceptedTerms })
    assert.deepEqual([refused.status, refused.json.code], [400, 'TERMS_NOT_ACCEPTED'])
  }
  assert.equal(await countOf('sign_in_users', email), 0)

  // Somebody else accepts with this address; its owner has only the link.
  await signUp(open(), email)
  const { browser } = await enter(email)
  const session = async () => (await browser.get('/v1/session')).json
  const { must_accept_terms, csrf_token, customer } = await session()
  assert.equal(must_accept_terms, true)
  const accept = (version: string) =>
    browser.post(
      '/auth/legal/accept',
      { version },
      { 'x-csrf-token': csrf_token, origin: browser.origin },
    )
  assert.equal((await accept('2020-01-01')).json.code, 'TERMS_CHANGED')
  const { version } = (await browser.get('/auth/legal')).json
  assert.equal((await accept(version)).status, 200)
  assert.equal((await accept(version)).status, 200)
  assert.equal((await session()).must_accept_terms, false)
  const acts = await db
    .selectFrom('audit_log')
    .select(['actor_id', 'details'])
    .where('action', '=', 'terms.accepted')
    .where('customer_id', '=', customer.id)
    .execute()
  const details = { version, documents: ['terms', 'privacy'], is_adult_or_business: true }
  assert.deepEqual(acts, [{ actor_id: customer.id, details }])
})

test('the terms and the privacy policy are pages with their version, the company and the notice of transfers abroad', async () => {
  const { company, version } = (await open().get('/auth/legal')).json
  for (const [path, words] of [
    ['/termos', /18 anos ou mais, ou quem contrata em nome de uma empresa/],
    ['/privacidade', /ficam fora do Brasil/],
  ] as const) {
    const page = await open().get(path)
    assert.equal(page.status, 200)
    assert.match(page.text, words)
    for (const fact of [company.name, company.cnpj, company.address, company.contactEmail, version])
      assert.ok(page.text.includes(fact), fact)
    assert.equal((await open().get(`${path}/${version}`)).text, page.text)
    assert.equal((await open().get(`${path}/2020-01-01`)).status, 404)
  }
})

test('an unverified address gets no session and no customer, even with the right password', async () => {
  const email = freshEmail()
  const browser = open()
  await signUp(browser, email)
  const refused = await browser.post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.equal(refused.status, 403)
  assert.equal(refused.json.code, 'EMAIL_NOT_VERIFIED')
  assert.equal(browser.cookies.size, 0)
  assert.equal(await countOf('customers', email), 0)
  const { rows } = await sql`
    select 1 from sign_in_sessions s join sign_in_users u on u.id = s.user_id where u.email = ${email}`.execute(
    db,
  )
  assert.equal(rows.length, 0)
})

test("a sign-up with another person's address gives no access, even if that person follows the link", async () => {
  const email = freshEmail()
  const made = await createCustomer(db, { name: 'Dona', email })
  assert.ok('id' in made)
  const intruder = open()
  await signUp(intruder, email)
  const { url, token } = await waitForLink(db, email, 'confirmar_email')
  // The owner follows it, and does not know the password.
  const owner = open()
  const refused = await owner.submit(url, { token, password: 'a senha que eu não sei' })
  assert.equal(refused.status, 400)
  assert.equal(owner.cookies.size, 0)
  // She enters by a link of her own, and the intruder's password is gone.
  const { customerId } = await enter(email)
  assert.equal(customerId, made.id)
  const again = await intruder.post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.equal(again.status, 401, again.text)
  assert.equal((await intruder.submit(url, { token, password: PASSWORD })).status, 400)
  assert.equal((await intruder.get('/v1/session')).status, 401)
})

test('a wrong password, an unknown address and a known one are answered alike', async () => {
  const { email } = await createPerson()
  const [known, unknown] = await Promise.all(
    [email, freshEmail()].map((each) =>
      open().post('/auth/sign-in/email', { email: each, password: 'uma senha errada' }),
    ),
  )
  assert.equal(known?.status, 401)
  assert.equal(known?.text, unknown?.text)
  assert.equal(unknown?.status, 401)
  const again = await signUp(open(), email)
  assert.equal(again.status, 200)
  assert.equal(again.json.token, null)
  assert.ok(await waitForLink(db, email, 'conta_existente'), 'who has the account is told')
})

test('a password of nine characters is refused', async () => {
  const short = await signUp(open(), freshEmail(), { password: 'nove char' })
  assert.equal(short.status, 400)
  assert.equal(short.json.code, 'PASSWORD_TOO_SHORT')
})

test('a sign-in link works once, for the customer with that address', async () => {
  const made = await createCustomer(db, { name: 'Por link', email: 'Por.Link@exemplo.com.br' })
  assert.ok('id' in made)
  const browser = open()
  await browser.post('/auth/sign-in/magic-link', { email: 'por.link@EXEMPLO.com.br' })
  const { url, token } = await waitForLink(db, 'por.link@exemplo.com.br', 'link_de_entrada')
  assert.equal((await browser.get(url)).status, 200)
  const [first, second] = await Promise.all([
    browser.submit(url, { token }),
    open().submit(url, { token }),
  ])
  assert.deepEqual(new Set([first?.status, second?.status]), new Set([303, 400]))
  assert.equal((await open().submit(url, { token })).status, 400)
  const { rows } = await sql<{ actor_id: string }>`
    select actor_id from audit_log where action = 'session.started' and customer_id = ${made.id}`.execute(
    db,
  )
  assert.deepEqual(rows, [{ actor_id: made.id }])
})

test('a sign-in link redirects to the requested page, never to another site', async () => {
  const enterFor = async (returnTo: string): Promise<Page> => {
    const browser = open()
    const email = freshEmail()
    const asked = await browser.post('/auth/sign-in/magic-link', { email, returnTo })
    if (asked.status !== 200) return asked
    const { url, token } = await waitForLink(db, email, 'link_de_entrada')
    const page = await browser.get(url)
    const [, kept = ''] = /name="returnTo" value="([^"]*)"/.exec(page.text) ?? []
    assert.equal(kept, returnTo.replaceAll('&', '&amp;'))
    return browser.submit(url, { token, returnTo })
  }
  for (const own of ['/uso', '/sessoes/a%20b?dias=7&modelo=x#topo', '/']) {
    const { status, headers } = await enterFor(own)
    assert.deepEqual([status, headers.get('location')], [303, own])
  }
  const strange = [
    '//elsewhere.example',
    '/\\elsewhere.example',
    'https://elsewhere.example',
    'uso',
  ]
  for (const returnTo of [
    ...strange,
    '',
    '/\t/elsewhere.example',
    '/a b',
    '/é',
    `/${'a'.repeat(500)}`,
  ]) {
    const refused = await open().post('/auth/sign-in/magic-link', { email: freshEmail(), returnTo })
    assert.deepEqual([refused.status, refused.json.code], [400, 'INVALID_REQUEST'], returnTo)
  }
  // A link that somebody changed, and a form.
  for (const returnTo of strange) {
    const browser = open()
    const email = freshEmail()
    await browser.post('/auth/sign-in/magic-link', { email })
    const { path, token } = await waitForLink(db, email, 'link_de_entrada')
    const changed = `${path}?${String(new URLSearchParams({ token, returnTo }))}`
    assert.ok(!(await browser.get(changed)).text.includes('returnTo'))
    const { status, headers } = await browser.submit(changed, { token, returnTo })
    assert.deepEqual([status, headers.get('location')], [303, '/'])
  }
})

test('the database stores neither sign-in links nor passwords in plain text', async () => {
  const { email } = await createPerson()
  const browser = open()
  await browser.post('/auth/request-password-reset', { email })
  await browser.post('/auth/sign-in/magic-link', { email })
  const reset = await waitForLink(db, email, 'nova_senha')
  const enter = await waitForLink(db, email, 'link_de_entrada')
  const { rows } = await sql<{ text: string }>`
    select v::text as text from sign_in_verifications v
    union all select a::text from sign_in_accounts a`.execute(db)
  assert.ok(rows.length >= 3)
  for (const secret of [reset.token, enter.token, PASSWORD])
    assert.ok(!rows.some(({ text }) => text.includes(secret)))
})

test('a password reset by mail ends every session and disables the old password', async () => {
  const { browser, email } = await createPerson()
  await browser.post('/auth/request-password-reset', { email })
  const { url, token } = await waitForLink(db, email, 'nova_senha')
  const visitor = open()
  assert.equal((await visitor.get(url)).status, 200)
  const password = 'outra senha bem longa'
  assert.equal((await visitor.submit(url, { token, password })).status, 200)
  assert.equal((await visitor.submit(url, { token, password })).status, 400, 'once')
  assert.equal((await browser.get('/v1/session')).status, 401)
  const statuses = []
  for (const each of [PASSWORD, password])
    statuses.push((await visitor.post('/auth/sign-in/email', { email, password: each })).status)
  assert.deepEqual(statuses, [401, 200])
})

test('a sign-out ends the session on every node at once, and a copy of its cookie stops working', async () => {
  const { browser } = await enter()
  const stolen = browser.cookie()
  // The other node is at an https address.
  const stolenThere = stolen.replace('catraca.session_token', '__Host-$&')
  const there = (): Promise<number> =>
    fetch(`${other.baseUrl}/session`, { headers: { cookie: stolenThere } }).then(
      ({ status }) => status,
    )
  assert.equal(await there(), 200)
  assert.equal((await browser.post('/auth/sign-out')).status, 200)
  assert.equal(await there(), 401)
  assert.equal((await ask(baseUrl, '/session', { headers: { cookie: stolen } })).status, 401)
})

test('a cookie that this server did not sign is refused', async () => {
  const { browser } = await enter()
  const [token = '', signature = ''] = decodeURIComponent(
    browser.cookie().split('=').slice(1).join('='),
  ).split('.')
  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  for (const value of [token, `${token}.`, `${token}.${flipped}`, `.${signature}`, '%', '%E0%A4%A'])
    for (const cookie of [value, encodeURIComponent(value)]) {
      const headers = { cookie: `catraca.session_token=${cookie}` }
      assert.equal((await ask(baseUrl, '/session', { headers })).status, 401, value)
    }
})

test('a session can create a key, with a row in the audit log; a model call does not accept a session', async () => {
  const { browser } = await enter()
  const { json } = await browser.get('/v1/session')
  const csrf = { 'x-csrf-token': json.csrf_token }
  const made = await browser.post(
    '/v1/api-keys',
    { name: 'painel', model_ids: ['sandbox-chat'] },
    csrf,
  )
  assert.equal(made.status, 201, made.text)
  const act = await db
    .selectFrom('audit_log')
    .selectAll()
    .where('action', '=', 'api_key.created')
    .where('customer_id', '=', json.customer.id)
    .executeTakeFirstOrThrow()
  assert.equal(act.actor_id, json.customer.id)
  assert.equal(act.api_key_id, null)
  assert.ok(act.session_id)
  const chat = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Olá' }] }
  const call = await browser.post('/v1/chat/completions', chat, csrf)
  assert.equal(call.status, 401)
  assert.equal(call.json.error.type, 'authentication_failed')
})

test('a request with both a key and a cookie acts as the key, without a CSRF token', async () => {
  const { browser } = await enter()
  const bearer = { authorization: `Bearer ${gateway.secret}` }
  const session = await browser.get('/v1/session', bearer)
  assert.equal(session.json.customer.id, gateway.customerId)
  assert.equal(session.json.csrf_token, '')
  assert.equal((await browser.post('/v1/me/teams', { name: 'Pela chave' }, bearer)).status, 201)
  const wrong = { authorization: 'Bearer sk-svc-nada' }
  assert.equal((await browser.get('/v1/session', wrong)).status, 401, 'it does not fall back')
})

test('the CSRF token of another session is refused', async () => {
  const [one, two] = [await enter(), await enter()]
  const { json } = await two.browser.get('/v1/session')
  for (const token of [json.csrf_token, '', 'x', json.csrf_token.slice(1)]) {
    const headers = { 'x-csrf-token': token }
    const refused = await one.browser.post('/v1/me/teams', { name: 'Nova' }, headers)
    assert.equal(refused.status, 403)
    assert.equal(refused.json.error, 'csrf_token_missing')
  }
})

test('only a user with a verified address on the list of admins is an admin', async () => {
  const claimed = open()
  await signUp(claimed, ADMIN_EMAIL.toUpperCase())
  assert.equal((await claimed.get('/v1/session')).status, 401)
  const { browser, csrfToken, customerId } = await enter(ADMIN_EMAIL)
  assert.equal((await browser.get('/v1/session')).json.is_admin, true)
  const refused = await browser.get('/v1/admin/refunds')
  assert.deepEqual([refused.status, refused.json.error], [403, 'second_factor_required'])
  for (const path of ['/auth/change-email', '/auth/update-user', '/auth/delete-user']) {
    const body = { newEmail: 'outra@exemplo.com.br', email: ADMIN_EMAIL, emailVerified: true }
    const { status } = await browser.post(path, body, { 'x-csrf-token': csrfToken })
    assert.equal(status, 404, path)
  }
  // Once the operator takes the address away from the customer, the session is nobody's.
  await db
    .updateTable('customers')
    .set({ email: 'aposentado@exemplo.com.br' })
    .where('id', '=', customerId)
    .execute()
  assert.equal((await browser.get('/v1/session')).status, 401)
})

test('unknown fields of a sign-up are ignored', async () => {
  const email = freshEmail()
  const browser = open()
  await signUp(browser, email, {
    emailVerified: true,
    is_verified: true,
    id: createId(),
    image: 'x',
  })
  const user = await db
    .selectFrom('sign_in_users')
    .selectAll()
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  assert.equal(user.is_verified, false)
  assert.equal(user.image, null)
})

test('malformed sign-in requests are refused with a 4xx', async () => {
  for (const fields of [
    { name: 'a\u0000b' },
    { name: 'x'.repeat(101) },
    { email: 'a@b\r\nBcc: c@d' },
    { email: 7 },
    { email: `${'a'.repeat(300)}@exemplo.com.br` },
    { password: ['a'] },
    { password: 'x'.repeat(300) },
    { referralCode: 'x'.repeat(41) },
  ]) {
    const refused = await signUp(open(), freshEmail(), fields)
    assert.equal(refused.status, 400, JSON.stringify(fields))
  }
  const form = await fetch(new URL('/auth/sign-in/email', baseUrl), {
    method: 'POST',
    body: new URLSearchParams({ email: freshEmail(), password: PASSWORD }),
  })
  assert.equal(form.status, 400)
})

test('an error of the database during sign-in is in the log alone, without the row', async (t) => {
  const printed = t.mock.method(console, 'error', () => {})
  const email = freshEmail()
  const seen = gateway.node.log.length
  await sql`alter table sign_in_verifications add constraint never check (false) not valid`.execute(
    db,
  )
  t.after(() => sql`alter table sign_in_verifications drop constraint if exists never`.execute(db))
  const refused = await open().post('/auth/sign-in/magic-link', { email, name: 'Ana' })
  assert.deepEqual([refused.status, refused.json], [500, { error: 'internal_error' }])
  await sql`alter table sign_in_verifications drop constraint never`.execute(db)
  assert.deepEqual(
    printed.mock.calls.map(({ arguments: [first] }) => first),
    [],
  )
  const lines = gateway.node.log.slice(seen).filter((line) => line.includes('"level":"error"'))
  assert.equal(lines.length, 1)
  assert.match(lines[0] as string, /"request_failed".*violates check constraint/)
  assert.ok(!lines[0]?.includes(email))
})

test('a page of another site cannot sign in, sign out or use a link', async () => {
  const email = freshEmail()
  const { browser } = await enter(email)
  const elsewhere = { origin: 'https://evil.example' }
  assert.equal((await browser.post('/auth/sign-out', {}, elsewhere)).status, 403)
  assert.equal((await browser.get('/v1/session')).status, 200)
  await browser.post('/auth/sign-in/magic-link', { email })
  const { url, token } = await waitForLink(db, email, 'link_de_entrada')
  const posted = await fetch(url, {
    method: 'POST',
    headers: elsewhere,
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  })
  assert.equal(posted.status, 403)
  assert.equal((await open().submit(url, { token })).status, 303, 'it was not used up')
})

/** As many attempts as these were made before, by this count of `limit-sign-in.ts`. */
async function setTries(key: string, tries: number): Promise<void> {
  const row = { key_hash: sha256(key), tries, ends_at: new Date(Date.now() + 600_000) }
  await db
    .insertInto('sign_in_attempts')
    .values(row)
    .onConflict((conflict) => conflict.column('key_hash').doUpdateSet({ tries }))
    .execute()
}

const tryPassword = (browser: Browser, email: string, password: string): Promise<Page> =>
  browser.post('/auth/sign-in/email', { email, password })

test('an attacker who exhausts the attempts of an address does not lock its owner out', async () => {
  const { browser: home, email } = await createPerson()
  await home.get('/v1/session')
  assert.ok(home.cookies.has('catraca.device'))
  const address = freshAddress()
  const stranger = openBrowser(baseUrl, address)
  assert.equal((await tryPassword(stranger, email, 'um palpite qualquer')).status, 401)
  // Counted before the password is looked at, which takes a tenth of a second each.
  await setTries(`password ${email} from ${address}`, 9)
  assert.equal((await tryPassword(stranger, email, 'o décimo palpite')).status, 401)
  const refused = await tryPassword(stranger, email, PASSWORD)
  assert.equal(refused.status, 429)
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  const there = openBrowser(other.baseUrl, address)
  assert.equal((await tryPassword(there, email, PASSWORD)).status, 429, 'on the other node, too')
  const mails: number[] = []
  for (let mail = 0; mail < 6; mail++)
    mails.push((await stranger.post('/auth/sign-in/magic-link', { email })).status)
  assert.deepEqual(mails, [200, 200, 200, 200, 200, 429])

  assert.equal((await tryPassword(open(), email, PASSWORD)).status, 200, 'from another network')
  assert.equal((await open().post('/auth/sign-in/magic-link', { email })).status, 200)
  // Strangers in many networks use up what all of them have together; a known device has its own count.
  await setTries(`password ${email}`, 100)
  await setTries(`mail ${email}`, 15)
  assert.equal((await tryPassword(open(), email, PASSWORD)).status, 429)
  assert.equal((await open().post('/auth/sign-in/magic-link', { email })).status, 429)
  home.cookies.delete('catraca.session_token')
  assert.equal((await home.post('/auth/sign-in/magic-link', { email })).status, 200)
  assert.equal((await tryPassword(home, email, PASSWORD)).status, 200)
})

test('a known device has a limited number of password attempts, for its own account only', async () => {
  const { browser, email } = await createPerson()
  await browser.get('/v1/session')
  const key = await createDeviceKey(browser, email)
  await setTries(key, 10)
  assert.equal((await tryPassword(browser, email, PASSWORD)).status, 429)
  const victim = await createPerson()
  await setTries(`password ${victim.email}`, 100)
  assert.equal((await tryPassword(browser, victim.email, PASSWORD)).status, 429)
})

/** The count of this device, found by its first attempt. */
async function createDeviceKey(browser: Browser, email: string): Promise<string> {
  const [token = ''] = browser.cookies.get('catraca.device')?.split('.') ?? []
  const id = Buffer.from(token, 'base64url').subarray(0, 12).toString('hex')
  return `password ${email} on ${id}`
}

test('wrong passwords count against their network over all accounts; right ones do not', async () => {
  const { email } = await createPerson()
  const near = openBrowser(baseUrl, '2001:db8:7:1::5')
  await setTries('password from 2001:db8:7:1::/64', 49)
  assert.equal((await tryPassword(near, email, PASSWORD)).status, 200)
  assert.equal((await tryPassword(near, email, PASSWORD)).status, 200)
  assert.equal((await tryPassword(near, email, 'um palpite qualquer')).status, 401)
  const neighbour = openBrowser(baseUrl, '2001:db8:7:1:ffff::9')
  assert.equal((await tryPassword(neighbour, freshEmail(), PASSWORD)).status, 429)
  await setTries('password from 2001:db8:7::/48', 200)
  const sameSite = openBrowser(baseUrl, '2001:db8:7:2::1')
  assert.equal((await tryPassword(sameSite, freshEmail(), PASSWORD)).status, 429)
})

test('a client can try a limited number of accounts', async () => {
  const browser = open()
  const statuses = []
  for (let email = 0; email < 12; email++)
    statuses.push((await browser.post('/auth/sign-in/magic-link', { email: freshEmail() })).status)
  assert.deepEqual(statuses, [...Array(10).fill(200), 429, 429])
})

test('the mails to one address are limited over all clients', async () => {
  const email = freshEmail()
  await setTries(`mail ${email}`, 14)
  const statuses = []
  for (let mail = 0; mail < 3; mail++)
    statuses.push((await open().post('/auth/sign-in/magic-link', { email })).status)
  assert.deepEqual(statuses, [200, 429, 429])
})

test('a sign-up with a referral code records the referral', async () => {
  const referralCode = await ensureReferralCode(db, gateway.customerId)
  const { email } = await createPerson(freshEmail(), { referralCode })
  const referred = await findCustomer(db, email)
  const row = await db
    .selectFrom('referrals')
    .select('referrer_id')
    .where('customer_id', '=', referred?.id as string)
    .executeTakeFirst()
  assert.equal(row?.referrer_id, gateway.customerId)
})

test('the demo customer signs in with the link in the sandbox mailbox', async () => {
  const { browser } = await enter('demo@example.com')
  const { json } = await browser.get('/v1/session')
  assert.equal(json.customer.name, 'Cliente de demonstração')
  assert.equal((await browser.get('/v1/usage')).status, 200)
})

test('with a public https address, every answer has the HSTS header', async () => {
  for (const path of ['/v1/healthz', '/', '/auth/link', '/nada']) {
    const there = await fetch(new URL(path, other.baseUrl))
    assert.equal(there.headers.get('strict-transport-security'), 'max-age=31536000', path)
  }
  const here = await fetch(`${baseUrl}/healthz`)
  assert.equal(here.headers.get('strict-transport-security'), null)
})

test('a suspended customer can still sign in', async () => {
  const email = freshEmail()
  const { browser } = await enter(email)
  await db
    .updateTable('customers')
    .set({ suspended_at: new Date(), suspended_reason: 'operator' })
    .where('email', '=', email)
    .execute()
  assert.equal((await browser.get('/v1/session')).status, 200)
  assert.equal((await (await enter(email)).browser.get('/v1/usage')).status, 200)
})

test('deleting the account ends its sessions and removes its sign-in data', async () => {
  const { browser, email } = await createPerson()
  const { json } = await browser.get('/v1/session')
  const headers = { 'x-csrf-token': json.csrf_token, 'content-type': 'application/json' }
  const deleted = await fetch(`${baseUrl}/me`, {
    method: 'DELETE',
    headers: { ...headers, cookie: browser.cookie() },
    body: JSON.stringify({ confirm: email }),
  })
  assert.equal(deleted.status, 200, await deleted.text())
  assert.equal((await browser.get('/v1/session')).status, 401)
  for (const table of ['sign_in_users', 'mails', 'sandbox_mails'])
    assert.equal(await countOf(table, email), 0, table)
  assert.equal(await findLink(db, email, 'confirmar_email'), undefined)
  const again = await open().post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.equal(again.status, 401)
})

test('unverified sign-ups are deleted after a week, expired sign-in data too', async () => {
  const email = freshEmail()
  const proved = freshEmail()
  await enter(proved)
  await signUp(open(), email)
  await sql`update sign_in_users set created_at = now() - interval '8 days'
    where email in (${email}, ${proved})`.execute(db)
  await pruneSignIn(db)
  assert.equal(await countOf('sign_in_users', email), 0)
  assert.equal(await countOf('sign_in_users', proved), 1)
})

test('a confirmation token is valid for a day, and no other text is accepted', () => {
  let now = Date.now()
  const tokens = createConfirmTokens(randomBytes(32), () => now)
  const userId = createId()
  const token = tokens.make(userId)
  assert.equal(tokens.userOf(token), userId)
  assert.equal(createConfirmTokens(randomBytes(32)).userOf(token), undefined)
  for (const wrong of ['', 'x', token.slice(1), `${token}A`, `${token.slice(0, -1)}=`])
    assert.equal(tokens.userOf(wrong), undefined)
  now += 24 * 3_600_000 + 1_000
  assert.equal(tokens.userOf(token), undefined)
})
