/**
 * Signs in to the dashboard by the link of a mail, as a browser does, makes a key that may manage the account, and turns
 * on a second factor, without which nobody operates the service.
 */
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR_TOKEN } from './start-server.ts'

export interface Operator {
  /** May manage the account. */
  readonly key: string
  /** The headers of the login session, with the second factor. */
  readonly session: Readonly<Record<string, string>>
}

export async function signInOperator(base: string, email: string): Promise<Operator> {
  const { origin } = new URL(base)
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { origin, cookie, ...(init.headers as Record<string, string>) }
    const answer = await fetch(new URL(path, origin), { redirect: 'manual', ...init, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: object, headers = {}) =>
    send(path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })

  await post('/auth/sign-in/magic-link', { email })
  const link = await findLink(send)
  const token = new URL(link).searchParams.get('token') ?? ''
  await send(link, { method: 'POST', body: new URLSearchParams({ token }) })
  const session = (await (await send('/v1/session')).json()) as { csrf_token: string }
  const made = await post(
    '/v1/api-keys',
    { name: 'Aceitação', scope: 'manage', model_ids: ['*'] },
    { 'x-csrf-token': session.csrf_token },
  )
  const body = (await made.json()) as { key?: string }
  const { key } = body
  if (key === undefined) throw new Error(`no managing key: ${JSON.stringify(body)}`)
  const csrf = { 'x-csrf-token': session.csrf_token }
  const begun = (await (await post('/auth/second-factor/begin', {}, csrf)).json()) as {
    secret: string
  }
  const enabled = await post('/auth/second-factor/enable', { code: codeOf(begun.secret) }, csrf)
  if (!enabled.ok) throw new Error(`no second factor: ${await enabled.text()}`)
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return { key, session: { cookie, ...csrf } }
}

/** RFC 6238, as an app on a phone computes it. */
function codeOf(secret: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = Array.from(secret, (sign) => alphabet.indexOf(sign).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  const key = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const mac = createHmac('sha1', key).update(step).digest()
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}

async function findLink(
  send: (path: string, init: RequestInit) => Promise<Response>,
): Promise<string> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
  const read = async (path: string): Promise<string> => (await send(path, { headers })).text()
  for (const end = Date.now() + 15_000; Date.now() < end; await sleep(100)) {
    const list = await read('/mailbox')
    const mail = /<a href="(\/mailbox\/[^"]+)">[^<]*link de acesso/.exec(list)?.[1]
    const text = mail === undefined ? '' : await read(mail)
    const link = /<a href="(https?:\/\/[^"]+token=[^"]+)"/.exec(text)?.[1]
    if (link !== undefined) return link.replaceAll('&amp;', '&')
  }
  throw new Error('no mail with a link')
}
