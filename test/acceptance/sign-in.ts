/** Signs in to the dashboard by the link of a mail, as a browser does, and makes a key that may manage the account. */
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR_TOKEN } from './start-server.ts'

export async function makeManagingKey(base: string, email: string): Promise<string> {
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
  const catalog = await (await send('/v1/models')).json()
  const { models } = catalog as { models: { id: string }[] }
  const made = await post(
    '/v1/api-keys',
    { name: 'Aceitação', scope: 'manage', model_ids: models.map(({ id }) => id) },
    { 'x-csrf-token': session.csrf_token },
  )
  const body = (await made.json()) as { key?: string }
  const { key } = body
  if (key === undefined) throw new Error(`no managing key: ${JSON.stringify(body)}`)
  return key
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
