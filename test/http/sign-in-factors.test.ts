// deep: every way in with every second factor
/** Who asked for a second factor is asked for it whichever way they come, and what guards an account is changed by them alone. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createId } from '../../src/platform/lib/ids.ts'
import { pruneSignIn } from '../../src/identity/sign-in/sessions.ts'
import { totpCode, totpStep } from '../../src/identity/sign-in/totp.ts'
import {
  enterByLink,
  openBrowser,
  waitForFreshLink,
  waitForLink,
  type Browser,
  type Page,
} from '../harness/sign-in-browser.ts'
import { createDevice, type Device } from './device-with-passkeys.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway({
  SECRETS_KEY: randomBytes(32).toString('base64'),
  TRUST_PROXY: '127.0.0.1',
  ADMIN_EMAILS: 'opera@exemplo.com.br',
})
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const PASSWORD = 'cavalo correto bateria'

let addresses = 0
function freshAddress(): string {
  addresses += 1
  return `198.18.${addresses}.7`
}

interface Person {
  readonly browser: Browser
  readonly email: string
  readonly customerId: string
  readonly csrf: { readonly 'x-csrf-token': string }
}

interface Guarded extends Person {
  readonly secret: Buffer
  readonly backupCodes: readonly string[]
}

/** By a link, which takes no password to be hashed. */
async function enter(email = `pessoa-${createId().slice(-12)}@exemplo.com.br`): Promise<Person> {
  const { browser, csrfToken, customerId } = await enterByLink(db, baseUrl, email, freshAddress())
  return { browser, email, customerId, csrf: { 'x-csrf-token': csrfToken } }
}

function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = Array.from(text, (sign) => alphabet.indexOf(sign).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

/** Of a step around now; each counts once. */
function codeAt(secret: Buffer, steps: number): string {
  return totpCode(secret, totpStep(Date.now()) + steps)
}

/** The way of the page: begin, scan, and give a first code. */
async function guard(person: Person): Promise<Guarded> {
  const { browser, csrf } = person
  const begun = await browser.post('/auth/second-factor/begin', {}, csrf)
  assert.equal(begun.status, 200, begun.text)
  const secret = fromBase32(begun.json.secret)
  assert.match(
    begun.json.uri,
    /^otpauth:\/\/totp\/Catraca:[^?]+\?secret=[A-Z2-7]{32}&issuer=Catraca/,
  )
  const enabled = await browser.post(
    '/auth/second-factor/enable',
    { code: codeAt(secret, 0) },
    csrf,
  )
  assert.equal(enabled.status, 200, enabled.text)
  // As if that was a minute ago: codes of now are good.
  await sql`update sign_in_second_factors set last_step = last_step - 2`.execute(db)
  return { ...person, secret, backupCodes: enabled.json.backupCodes }
}

/** As far as the link goes. */
async function followLink(email: string): Promise<{ browser: Browser; followed: Page }> {
  const browser = openBrowser(baseUrl, freshAddress())
  await browser.post('/auth/sign-in/magic-link', { email, returnTo: '/uso' })
  const { url, token } = await waitForFreshLink(db, email)
  return { browser, followed: await browser.submit(url, { token, returnTo: '/uso' }) }
}

function giveCode(browser: Browser, code: string): Promise<Page> {
  return browser.post('/auth/sign-in/code', { code })
}

async function isIn(browser: Browser): Promise<boolean> {
  const [session, own] = [await browser.get('/v1/session'), await browser.get('/auth/security')]
  assert.equal(session.status, own.status)
  return session.status === 200
}

async function actsOf(customerId: string): Promise<string[]> {
  const acts = await db
    .selectFrom('audit_log')
    .select('action')
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
  return acts.map(({ action }) => action)
}

/** As many security mails were written to this address: those that wait, and those that were sent. */
async function assertSecurityMails(email: string, count: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
    const { rows } = await sql`
      select 1 from mails m join customers c on c.id = m.customer_id
      where c.email = ${email} and m.template = 'seguranca_da_conta'
      union all
      select 1 from sandbox_mails where email = ${email} and subject like '%Segurança da conta%'`.execute(
      db,
    )
    // One that is being sent is for a moment in both.
    if (rows.length <= count || Date.now() > deadline) return assert.equal(rows.length, count)
  }
}

test('a sign-in by link requires the second factor; there is no session before the code', async () => {
  const { email, secret, customerId } = await guard(await enter())
  const { browser, followed } = await followLink(email)
  assert.equal(followed.status, 303)
  assert.equal(followed.headers.get('location'), '/entrar/codigo?voltar=%2Fuso')
  assert.equal(await isIn(browser), false)
  for (const path of ['/auth/get-session', '/auth/passkey/generate-register-options'])
    assert.equal((await browser.get(path)).status, 401, path)
  const before = (await actsOf(customerId)).filter((act) => act === 'session.started').length
  assert.equal(before, 1, 'it has not started')
  const wrong = await giveCode(browser, codeAt(secret, 400))
  assert.deepEqual([wrong.status, wrong.json.code], [400, 'INVALID_CODE'])
  assert.equal(await isIn(browser), false)
  const right = await giveCode(browser, codeAt(secret, 0))
  assert.equal(right.status, 200, right.text)
  assert.equal(await isIn(browser), true)
  assert.equal((await actsOf(customerId)).filter((act) => act === 'session.started').length, 2)
})

test('a sign-in by password requires the second factor, also after a password reset', async () => {
  const { browser: first, email, secret } = await guard(await enter())
  await first.post('/auth/request-password-reset', { email })
  const { url, token } = await waitForLink(db, email, 'nova_senha')
  assert.equal((await first.submit(url, { token, password: PASSWORD })).status, 200)
  assert.equal(await isIn(first), false)
  const browser = openBrowser(baseUrl, freshAddress())
  const signedIn = await browser.post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.deepEqual([signedIn.status, signedIn.json], [200, { awaitsFactor: true }])
  assert.equal(await isIn(browser), false)
  assert.equal((await giveCode(browser, codeAt(secret, 0))).status, 200)
  assert.equal(await isIn(browser), true)
})

test('a code is accepted once, even in a race, and no earlier code is accepted after it', async () => {
  const { email, secret } = await guard(await enter())
  const code = codeAt(secret, 0)
  const browsers = [await followLink(email), await followLink(email)].map(({ browser }) => browser)
  const given = await Promise.all(browsers.map((browser) => giveCode(browser, code)))
  assert.deepEqual(new Set(given.map(({ status }) => status)), new Set([200, 400]))
  const { browser } = await followLink(email)
  for (const late of [code, codeAt(secret, -1)])
    assert.equal((await giveCode(browser, late)).status, 400)
  assert.equal((await giveCode(browser, codeAt(secret, 1))).status, 200)
})

test('operator routes require a session that passed the second factor, while the factor is on', async () => {
  const email = 'opera@exemplo.com.br'
  const [person, other] = [await enter(email), await enter(email)]
  const operates = async (browser: Browser): Promise<unknown> => {
    const { status, json } = await browser.get('/v1/admin/refunds')
    return status === 200 || json.error
  }
  assert.equal(await operates(person.browser), 'second_factor_required')
  const guarded = await guard(person)
  assert.equal(await operates(person.browser), true)
  assert.equal(await operates(other.browser), 'second_factor_required')
  const proof = { code: guarded.backupCodes[0] }
  assert.equal((await other.browser.post('/auth/security/prove', proof, other.csrf)).status, 200)
  assert.equal(await operates(other.browser), true)
  const { browser } = await followLink(email)
  assert.equal((await giveCode(browser, codeAt(guarded.secret, 0))).status, 200)
  assert.equal(await operates(browser), true)
  assert.equal(
    (await person.browser.post('/auth/second-factor/disable', {}, person.csrf)).status,
    200,
  )
  for (const each of [person.browser, other.browser, browser])
    assert.equal(await operates(each), 'second_factor_required')
})

test('a backup code works once, in any spelling, and new codes replace the old ones', async () => {
  const { browser, csrf, email, backupCodes } = await guard(await enter())
  assert.equal(new Set(backupCodes).size, 10)
  const [first = '', second = ''] = backupCodes
  const waiting = (await followLink(email)).browser
  assert.equal((await giveCode(waiting, first.toUpperCase().replaceAll('-', ' '))).status, 200)
  assert.equal((await giveCode((await followLink(email)).browser, first)).status, 400)
  assert.equal((await browser.get('/auth/security')).json.secondFactor.backupCodesLeft, 9)
  const renewed = await browser.post('/auth/second-factor/backup-codes', {}, csrf)
  assert.equal(renewed.json.backupCodes.length, 10)
  const again = (await followLink(email)).browser
  assert.equal((await giveCode(again, second)).status, 400)
  assert.equal((await giveCode(again, renewed.json.backupCodes[1])).status, 200)
})

/** A thief who has the password and no more, at a fresh network. */
async function enterByPassword(email: string): Promise<Browser> {
  const browser = openBrowser(baseUrl, freshAddress())
  const { status, json } = await browser.post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.deepEqual([status, json], [200, { awaitsFactor: true }])
  return browser
}

async function guardWithPassword(): Promise<Guarded> {
  const guarded = await guard(await enter())
  const { browser, email } = guarded
  await browser.post('/auth/request-password-reset', { email })
  const { url, token } = await waitForLink(db, email, 'nova_senha')
  assert.equal((await browser.submit(url, { token, password: PASSWORD })).status, 200)
  return guarded
}

/** Wrong codes until one is refused; returns how many were compared. */
async function guess(browser: Browser, secret: Buffer): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const { status, headers } = await giveCode(browser, codeAt(secret, 100 + tries))
    if (status === 400) continue
    assert.equal(status, 429)
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    return tries
  }
  return assert.fail('no limit')
}

test('who has the password locks the second factor for nobody else: neither at another network, nor by a link, a known device or a backup code', async () => {
  const { email, secret, backupCodes, browser: known } = await guardWithPassword()
  const thief = await enterByPassword(email)
  assert.equal(await guess(thief, secret), 10)
  assert.equal((await giveCode(thief, codeAt(secret, 0))).status, 429, 'the right one, too')
  const owner = await enterByPassword(email)
  assert.equal((await giveCode(owner, codeAt(secret, -1))).status, 200)
  // With networks without end, all tries of strangers of a day.
  let guessed = 10
  for (let last = 10; last > 0; guessed += last)
    last = await guess(await enterByPassword(email), secret)
  assert.equal(guessed, 60)
  const { browser: byLink } = await followLink(email)
  assert.equal((await giveCode(byLink, codeAt(secret, 0))).status, 200)
  await known.post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.equal((await giveCode(known, codeAt(secret, 1))).status, 200)
  assert.equal((await giveCode(await enterByPassword(email), backupCodes[0] ?? '')).status, 200)
})

test('who has the mailbox guesses no more codes, with devices and networks without end, and right codes count for nothing', async () => {
  const { email, secret, backupCodes } = await guard(await enter())
  const { browser } = await followLink(email)
  const step = totpStep(Date.now())
  for (const steps of [-1, 0, 1])
    await giveCode((await followLink(email)).browser, totpCode(secret, step + steps))
  assert.equal(await guess(browser, secret), 20)
  let guessed = 20
  for (let last = 20; last > 0; guessed += last)
    last = await guess((await followLink(email)).browser, secret)
  assert.ok(guessed >= 60 && guessed <= 62, `${guessed}`)
  assert.equal((await giveCode(browser, backupCodes[0] ?? '')).status, 200)
})

test('a sign-in must be completed with its code within ten minutes', async () => {
  const { email, secret } = await guard(await enter())
  const { browser } = await followLink(email)
  await sql`update sign_in_sessions set created_at = now() - interval '2 hours' where awaits_factor`.execute(
    db,
  )
  const late = await giveCode(browser, codeAt(secret, 0))
  assert.deepEqual([late.status, late.json.code], [401, 'SIGN_IN_AGAIN'])
  await pruneSignIn(db)
  const { rows } = await sql`select 1 from sign_in_sessions where awaits_factor`.execute(db)
  assert.equal(rows.length, 0)
})

test('secrets are sealed and codes hashed in the database; neither is in mails or in the log', async () => {
  const { email, secret, backupCodes, customerId, browser, csrf } = await guard(await enter())
  const off = await browser.post('/auth/second-factor/disable', {}, csrf)
  assert.equal(off.status, 200, off.text)
  assert.equal((await browser.post('/auth/second-factor/disable', {}, csrf)).status, 409)
  await guard({ email, browser, csrf, customerId })
  assert.deepEqual((await actsOf(customerId)).slice(-3), [
    'second_factor.enabled',
    'second_factor.disabled',
    'second_factor.enabled',
  ])
  await assertSecurityMails(email, 3)
  const { rows } = await sql<{ text: string }>`
    select t::text as text from sign_in_second_factors t
    union all select t::text from sign_in_backup_codes t
    union all select t::text from audit_log t
    union all select t::text from mails t
    union all select text || html from sandbox_mails`.execute(db)
  assert.ok(rows.length > 5)
  for (const hidden of [secret.toString('hex'), secret.toString('base64'), ...backupCodes])
    assert.ok(!rows.some(({ text }) => text.includes(hidden)))
})

test('a code of another secret does not enable the factor, and an enabled factor cannot be enrolled again', async () => {
  const { browser, csrf } = await enter()
  const first = await browser.post('/auth/second-factor/begin', {}, csrf)
  await browser.post('/auth/second-factor/begin', {}, csrf)
  const code = codeAt(fromBase32(first.json.secret), 0)
  const refused = await browser.post('/auth/second-factor/enable', { code }, csrf)
  assert.equal(refused.status, 400, 'the first secret is gone')
  assert.equal((await browser.get('/auth/security')).json.secondFactor.enabledAt, null)
  assert.equal((await browser.post('/auth/second-factor/backup-codes', {}, csrf)).status, 409)
  const on = await guard(await enter())
  assert.equal((await on.browser.post('/auth/second-factor/begin', {}, on.csrf)).status, 409)
})

const CHANGES: readonly [path: string, body: object][] = [
  ['/auth/second-factor/begin', {}],
  ['/auth/second-factor/disable', {}],
  ['/auth/second-factor/backup-codes', {}],
  ['/auth/passkey/verify-registration', {}],
  ['/auth/passkeys/remove', { id: createId() }],
  ['/auth/providers/unlink', { provider: 'google' }],
  ['/auth/sessions/end', { id: createId() }],
  ['/auth/sessions/end-others', {}],
  ['/auth/change-password', { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` }],
  ['/auth/security/prove', { password: PASSWORD }],
]

test("a cookie alone changes nothing: the CSRF token and the site's own origin are required", async () => {
  const { browser, csrf, customerId } = await guard(await enter())
  const before = await actsOf(customerId)
  const elsewhere = { ...csrf, origin: 'https://evil.example' }
  for (const [path, body] of CHANGES) {
    const bare = await browser.post(path, body)
    assert.deepEqual([bare.status, bare.json.code], [403, 'CSRF_TOKEN_MISSING'], path)
    const strange = await browser.post(path, body, elsewhere)
    assert.deepEqual([strange.status, strange.json.code], [403, 'INVALID_ORIGIN'], path)
    const nobody = await openBrowser(baseUrl, freshAddress()).post(path, body, csrf)
    assert.equal(nobody.status, 401, path)
  }
  assert.deepEqual(await actsOf(customerId), before)
  const { browser: waiting } = await followLink((await browser.get('/auth/security')).json.email)
  const strange = await waiting.post('/auth/sign-in/code', { code: '1' }, elsewhere)
  assert.deepEqual([strange.status, strange.json.code], [403, 'INVALID_ORIGIN'])
})

test('acts that weaken a sign-in require a recent proof of identity', async () => {
  const { browser, csrf, secret, email } = await guard(await enter())
  const age = () =>
    sql`update sign_in_sessions s set proved_at = now() - interval '11 minutes'
      from sign_in_users u where u.id = s.user_id and u.email = ${email}`.execute(db)
  await age()
  const wanting = CHANGES.filter(([path]) => !/sessions|change-password|prove/.test(path))
  for (const [path, body] of wanting) {
    const refused = await browser.post(path, body, csrf)
    assert.deepEqual([refused.status, refused.json.code], [403, 'PROOF_NEEDED'], path)
  }
  const options = await browser.get('/auth/passkey/generate-register-options')
  assert.equal(options.json.code, 'PROOF_NEEDED')
  const prove = (body: object): Promise<Page> => browser.post('/auth/security/prove', body, csrf)
  assert.equal((await prove({ password: PASSWORD })).status, 400, 'the password is not enough')
  assert.equal((await prove({ code: codeAt(secret, 300) })).status, 400)
  assert.equal((await prove({ code: codeAt(secret, 0) })).status, 200)
  assert.equal((await browser.post('/auth/second-factor/disable', {}, csrf)).status, 200)
  await age()
  assert.equal((await prove({ password: '' })).status, 400, 'who has no password signs in again')
  await browser.post('/auth/request-password-reset', { email })
  const { url, token } = await waitForLink(db, email, 'nova_senha')
  await browser.submit(url, { token, password: PASSWORD })
  const signedIn = await browser.post('/auth/sign-in/email', { email, password: PASSWORD })
  assert.equal(signedIn.status, 200)
  const own = { 'x-csrf-token': (await browser.get('/v1/session')).json.csrf_token }
  await age()
  const again = await browser.post('/auth/security/prove', { password: PASSWORD }, own)
  assert.equal(again.status, 200, again.text)
  assert.equal((await browser.post('/auth/second-factor/begin', {}, own)).status, 200)
})

test('a customer lists sessions and ends one or all others, effective at once, and never those of another customer', async () => {
  const one = await enter()
  const [two, three] = [await enter(one.email), await enter(one.email)]
  const { json } = await one.browser.get('/auth/security')
  assert.equal(json.sessions.length, 3)
  assert.deepEqual(
    json.sessions.map(({ isThis }: { isThis: boolean }) => isThis),
    [false, false, true],
  )
  assert.match(json.sessions[0].ip, /^198\.18\./)
  assert.ok(!JSON.stringify(json).includes('token'))
  const [{ id: idOfThree }] = json.sessions
  const stranger = await enter()
  const refused = await stranger.browser.post(
    '/auth/sessions/end',
    { id: idOfThree },
    stranger.csrf,
  )
  assert.deepEqual([refused.status, refused.json.code], [404, 'SESSION_NOT_FOUND'])
  assert.equal(await isIn(three.browser), true)
  const ended = await one.browser.post('/auth/sessions/end', { id: idOfThree }, one.csrf)
  assert.equal(ended.status, 200, ended.text)
  assert.deepEqual([await isIn(three.browser), await isIn(two.browser)], [false, true])
  const others = await one.browser.post('/auth/sessions/end-others', {}, one.csrf)
  assert.deepEqual(others.json, { ended: 1 })
  assert.deepEqual([await isIn(two.browser), await isIn(one.browser)], [false, true])
  assert.deepEqual((await actsOf(one.customerId)).slice(-2), ['session.ended', 'sessions.ended'])
  for (const id of ['', 'x', createId().slice(1)])
    assert.equal((await one.browser.post('/auth/sessions/end', { id }, one.csrf)).status, 400)
})

test('a new password ends the other sessions, keeps the current one, and is in the audit log', async () => {
  const { email, customerId, browser } = await enter()
  await browser.post('/auth/request-password-reset', { email })
  const { url, token } = await waitForLink(db, email, 'nova_senha')
  await browser.submit(url, { token, password: PASSWORD })
  const other = await enter(email)
  await browser.post('/auth/sign-in/email', { email, password: PASSWORD })
  const csrf = { 'x-csrf-token': (await browser.get('/v1/session')).json.csrf_token }
  const change = (currentPassword: string): Promise<Page> =>
    browser.post('/auth/change-password', { currentPassword, newPassword: `${PASSWORD}!` }, csrf)
  assert.equal((await change('uma senha errada')).status, 400)
  assert.equal(await isIn(other.browser), true)
  const changed = await change(PASSWORD)
  assert.deepEqual([changed.status, changed.json], [200, { status: true }])
  assert.deepEqual([await isIn(other.browser), await isIn(browser)], [false, true])
  assert.equal((await actsOf(customerId)).at(-1), 'password.changed')
})

test("a customer cannot remove another's passkey, and an invalid passkey is refused", async () => {
  const [owner, stranger] = [await enter(), await enter()]
  const { id: userId } = await db
    .selectFrom('sign_in_users')
    .select('id')
    .where('email', '=', owner.email)
    .executeTakeFirstOrThrow()
  const id = createId()
  await db
    .insertInto('sign_in_passkeys')
    .values({
      id,
      user_id: userId,
      name: 'Telefone',
      public_key: 'AAAA',
      credential_id: `chave-${id}`,
      counter: 0,
      device_type: 'singleDevice',
      is_backed_up: false,
      transports: null,
      aaguid: null,
    })
    .execute()
  const refused = await stranger.browser.post('/auth/passkeys/remove', { id }, stranger.csrf)
  assert.deepEqual([refused.status, refused.json.code], [404, 'PASSKEY_NOT_FOUND'])
  const part = 'AAAA'
  const credential = (more: object): object => ({
    response: {
      id: `chave-${id}`,
      rawId: `chave-${id}`,
      type: 'public-key',
      response: {
        clientDataJSON: part,
        attestationObject: part,
        authenticatorData: part,
        signature: part,
      },
      ...more,
    },
  })
  for (const body of [
    {},
    { response: 'x' },
    credential({ id: 'a\u0000b' }),
    credential({ response: {} }),
    credential({}),
  ]) {
    await stranger.browser.get('/auth/passkey/generate-register-options')
    const added = await stranger.browser.post(
      '/auth/passkey/verify-registration',
      body,
      stranger.csrf,
    )
    assert.equal(added.status, 400, added.text)
    const entering = openBrowser(baseUrl, freshAddress())
    const options = await entering.get('/auth/passkey/generate-authenticate-options')
    assert.equal(options.json.userVerification, 'required')
    const entered = await entering.post('/auth/passkey/verify-authentication', body)
    assert.ok([400, 401].includes(entered.status), entered.text)
    assert.equal(await isIn(entering), false)
  }
  const listed = await owner.browser.get('/auth/security')
  assert.deepEqual(
    listed.json.passkeys.map(({ name }: { name: string }) => name),
    ['Telefone'],
  )
  const removed = await owner.browser.post('/auth/passkeys/remove', { id }, owner.csrf)
  assert.equal(removed.status, 200, removed.text)
  assert.equal((await actsOf(owner.customerId)).at(-1), 'passkey.removed')
})

/** As the page adds it, on that device. */
async function addPasskey({ browser, csrf }: Person, device: Device, isVerified = true) {
  const { json } = await browser.get('/auth/passkey/generate-register-options')
  assert.equal(json.authenticatorSelection.userVerification, 'required')
  const response = device.create(json.challenge, { isVerified })
  const body = { response, name: 'Telefone' }
  return browser.post('/auth/passkey/verify-registration', body, csrf)
}

test('a passkey signs in without a code, once for each challenge; adding one is in the audit log and mailed to its owner', async () => {
  const owner = await guard(await enter())
  const device = createDevice(owner.browser.origin)
  const added = await addPasskey(owner, device)
  assert.deepEqual([added.status, added.json.name], [200, 'Telefone'], added.text)
  assert.equal((await actsOf(owner.customerId)).at(-1), 'passkey.added')
  await assertSecurityMails(owner.email, 2)
  const browser = openBrowser(baseUrl, freshAddress())
  const { json } = await browser.get('/auth/passkey/generate-authenticate-options')
  const cookies = new Map(browser.cookies)
  const response = device.get(json.challenge)
  const entered = await browser.post('/auth/passkey/verify-authentication', { response })
  assert.equal(entered.status, 200, entered.text)
  assert.equal(await isIn(browser), true)
  const { rows } = await sql`
    select 1 from sign_in_sessions s join sign_in_users u on u.id = s.user_id
    where u.email = ${owner.email} and s.factor_at is not null`.execute(db)
  assert.equal(rows.length, 2, 'it is a second factor, as the code was')
  const again = openBrowser(baseUrl, freshAddress())
  for (const [name, value] of cookies) again.cookies.set(name, value)
  const replayed = await again.post('/auth/passkey/verify-authentication', { response })
  assert.equal(replayed.status, 400)
  assert.equal(await isIn(again), false)
  const { id } = added.json
  const removed = await owner.browser.post('/auth/passkeys/remove', { id }, owner.csrf)
  assert.equal(removed.status, 200, removed.text)
  assert.equal(await isIn(browser), false, 'what it opened ends with it')
  assert.equal(await isIn(owner.browser), true)
})

test('a passkey without user verification, or of another site, can neither be added nor sign in', async () => {
  const owner = await enter()
  const { origin } = owner.browser
  const unverified = await addPasskey(owner, createDevice(origin), false)
  assert.deepEqual([unverified.status, unverified.json.code], [401, 'USER_NOT_VERIFIED'])
  const device = createDevice(origin)
  assert.equal((await addPasskey(owner, device)).status, 200)
  for (const more of [{ isVerified: false }, { origin: 'https://evil.example' }]) {
    const browser = openBrowser(baseUrl, freshAddress())
    const { json } = await browser.get('/auth/passkey/generate-authenticate-options')
    const body = { response: device.get(json.challenge, more) }
    const refused = await browser.post('/auth/passkey/verify-authentication', body)
    assert.ok([400, 401].includes(refused.status), refused.text)
    assert.equal(await isIn(browser), false)
  }
})

test("a passkey cannot be added with another customer's challenge", async () => {
  const [owner, stranger] = [await enter(), await enter()]
  const { json } = await owner.browser.get('/auth/passkey/generate-register-options')
  for (const [name, value] of owner.browser.cookies)
    if (name.includes('passkey')) stranger.browser.cookies.set(name, value)
  const response = createDevice(owner.browser.origin).create(json.challenge)
  const body = { response, name: 'Telefone' }
  const refused = await stranger.browser.post(
    '/auth/passkey/verify-registration',
    body,
    stranger.csrf,
  )
  assert.equal(refused.status, 401, refused.text)
  for (const { browser } of [owner, stranger])
    assert.deepEqual((await browser.get('/auth/security')).json.passkeys, [])
})
