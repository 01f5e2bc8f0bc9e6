/** A browser for the purpose of sign-in: it keeps cookies, sends the origin of its pages, and follows no redirect. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: any
}

export interface Browser {
  readonly origin: string
  readonly cookies: Map<string, string>
  cookie(): string
  get(path: string, headers?: Record<string, string>): Promise<Page>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Page>
  /** As the form of a page does it. */
  submit(url: string, fields: Record<string, string>): Promise<Page>
}

/** As if from that address, if the server trusts the header. */
export function openBrowser(baseUrl: string, address?: string): Browser {
  const { origin } = new URL(baseUrl)
  const cookies = new Map<string, string>()
  const cookie = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const send = async (path: string, init: RequestInit): Promise<Page> => {
    const answer = await fetch(new URL(path, origin), {
      redirect: 'manual',
      ...init,
      headers: {
        ...(init.method === 'POST' ? { origin } : {}),
        ...(cookies.size > 0 ? { cookie: cookie() } : {}),
        ...(address === undefined ? {} : { 'x-forwarded-for': address }),
        ...(init.headers as Record<string, string>),
      },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0\b/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
    const json = isJson && text !== '' ? JSON.parse(text) : undefined
    return { status: answer.status, headers: answer.headers, text, json }
  }
  return {
    origin,
    cookies,
    cookie,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body = {}, headers = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    submit: (url, fields) => send(url, { method: 'POST', body: new URLSearchParams(fields) }),
  }
}

export interface SentLink {
  readonly id: string
  readonly url: string
  readonly path: string
  readonly token: string
}

/** The newest mail of this kind to that address, sent or queued; undefined if there is none. */
export async function findLink(
  db: Database,
  email: string,
  template: string,
): Promise<SentLink | undefined> {
  return (await listLinks(db, email, template))[0]
}

/** The newest first; one that was sent late looks newer than one that still waits. */
async function listLinks(db: Database, email: string, template: string): Promise<SentLink[]> {
  const subjects: Record<string, string> = {
    confirmar_email: 'Confirme o seu e-mail',
    link_de_entrada: 'Seu link de acesso',
    nova_senha: 'Escolha uma nova senha',
    conta_existente: 'Você já tem uma conta',
  }
  const { rows } = await sql<{ id: string; url: string }>`
    select id, url from (
      select id, data ->> 'url' as url, created_at from mails
      where email = ${email} and template = ${template}
      union all
      select id, substring(text from 'https?://\\S+(?:token=\\S+|/entrar)'), created_at from sandbox_mails
      where email = ${email} and subject like ${`%${subjects[template]}`}
    ) links order by created_at desc`.execute(db)
  return rows.map((row) => {
    const { pathname, searchParams } = new URL(row.url)
    return { ...row, path: pathname, token: searchParams.get('token') ?? '' }
  })
}

const followed = new Set<string>()

/** A link to enter by that was not given out here before. */
export async function waitForFreshLink(db: Database, email: string): Promise<SentLink> {
  const isFresh = ({ token }: SentLink): boolean => !followed.has(token)
  const fresh = await waitForLink(db, email, 'link_de_entrada', isFresh)
  followed.add(fresh.token)
  return fresh
}

/** The newest of this kind that is wanted. */
export async function waitForLink(
  db: Database,
  email: string,
  template: string,
  isWanted: (link: SentLink) => boolean = () => true,
): Promise<SentLink> {
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const link = (await listLinks(db, email, template)).find(isWanted)
    if (link) return link
    if (Date.now() > deadline) throw new Error(`no mail ${template} to ${email}`)
  }
}

export interface SignedIn {
  readonly browser: Browser
  readonly csrfToken: string
  readonly customerId: string
}

/** By a link in a mail. */
export async function enterByLink(
  db: Database,
  baseUrl: string,
  email: string,
  address?: string,
): Promise<SignedIn> {
  const browser = openBrowser(baseUrl, address)
  const asked = await browser.post('/auth/sign-in/magic-link', { email })
  if (asked.status !== 200) throw new Error(asked.text)
  const { url, token } = await waitForFreshLink(db, email)
  const entered = await browser.submit(url, { token })
  if (entered.status !== 303) throw new Error(entered.text)
  const { json } = await browser.get('/v1/session')
  return { browser, csrfToken: json.csrf_token, customerId: json.customer.id }
}
