import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createDeviceCookies } from './device-cookie.ts'

const DAY_MS = 86_400_000
const KEY = randomBytes(32)
const ORIGIN = 'https://painel.example.com'
const valueOf = (line: string | undefined): string => (line ?? '').split(';')[0] ?? ''

test('a device is known for the e-mail that was signed in on it, and for no other', () => {
  const devices = createDeviceCookies(KEY)
  const line = devices.remember(undefined, 'Ana@example.com', ORIGIN) ?? ''
  assert.match(
    line,
    /^__Host-catraca\.device=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; .*; Secure$/,
  )
  const cookie = `a=b; ${valueOf(line)}`
  assert.match(devices.deviceOf(cookie, 'ana@example.com') ?? '', /^[0-9a-f]{24}$/)
  for (const none of [undefined, '', 'a=b', cookie.slice(0, -1), `${cookie}x`])
    assert.equal(devices.deviceOf(none, 'ana@example.com'), undefined)
  assert.equal(devices.deviceOf(cookie, 'bia@example.com'), undefined)
  assert.equal(createDeviceCookies(randomBytes(32)).deviceOf(cookie, 'ana@example.com'), undefined)
})

test('a device keeps the last four accounts, and forgets each after 90 days without it', () => {
  let at = Date.now()
  const devices = createDeviceCookies(KEY, () => at)
  const emails = ['a@x.br', 'b@x.br', 'c@x.br', 'd@x.br', 'e@x.br']
  let cookie: string | undefined
  for (const email of emails) cookie = valueOf(devices.remember(cookie, email, ORIGIN))
  const known = (): boolean[] =>
    emails.map((email) => devices.deviceOf(cookie, email) !== undefined)
  assert.deepEqual(known(), [false, true, true, true, true])
  assert.equal(devices.remember(cookie, 'e@x.br', ORIGIN), undefined, 'it is new enough')
  at += 61 * DAY_MS
  cookie = valueOf(devices.remember(cookie, 'c@x.br', ORIGIN))
  at += 30 * DAY_MS
  assert.deepEqual(known(), [false, false, true, false, false])
})

test('a browser has one id, whichever accounts it had since and however old their tokens are', () => {
  let at = Date.now()
  const devices = createDeviceCookies(KEY, () => at)
  let cookie: string | undefined
  const remember = (email: string): void => {
    cookie = valueOf(devices.remember(cookie, email, ORIGIN)) || cookie
  }
  remember('first@x.br')
  const [id] = devices.allDevicesOf(cookie, 'first@x.br')
  assert.match(id ?? '', /^[0-9a-f]{24}$/)
  for (const email of ['a@x.br', 'b@x.br', 'c@x.br', 'd@x.br', 'e@x.br']) {
    assert.deepEqual(devices.allDevicesOf(cookie, email), [id], 'before it is remembered')
    remember(email)
    assert.deepEqual(devices.allDevicesOf(cookie, email), [id])
    assert.equal(devices.deviceOf(cookie, email), id)
  }
  assert.equal(devices.deviceOf(cookie, 'first@x.br'), undefined, 'its token is gone')
  for (let month = 0; month < 6; month++) {
    at += 31 * DAY_MS
    remember('e@x.br')
  }
  assert.equal(devices.deviceOf(cookie, 'e@x.br'), id)
  assert.deepEqual(devices.allDevicesOf(undefined, 'e@x.br'), [])
})
