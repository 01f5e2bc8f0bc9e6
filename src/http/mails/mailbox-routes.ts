/**
 * `GET /mailbox`: the mails of sandbox mode, for its operator. In live mode the page does not exist.
 * A mail is shown in a frame that runs no script and loads nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  findSandboxMail,
  listSandboxMails,
  SANDBOX_MAILS_MAX,
  type SandboxMail,
} from '../../deliveries/email/sandbox-mailbox.ts'
import { escapeHtml } from '../../platform/lib/html.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { isOperator, operatorCookie } from '../rest/is-operator.ts'
import { restError } from '../rest/rest-refusal.ts'
import { hiddenRoute } from '../rest/route.ts'
import { plainPage } from '../rest/send-page.ts'

type Deps = Pick<HttpParts, 'db' | 'operatorAccess'>

const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const MAIL_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

export const mailboxRoutes = ({ mode }: Pick<HttpConfig, 'mode'>) =>
  mode === 'sandbox' ? sandboxRoutes : []

const sandboxRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/mailbox',
    access: 'machine',
    async handle(request, reply, deps: Deps) {
      const cookie = operatorCookie(request, deps.operatorAccess)
      // The address in the history and in links is then without the token.
      if (cookie !== undefined)
        return reply
          .header('set-cookie', cookie)
          .header('cache-control', 'no-store')
          .header('referrer-policy', 'no-referrer')
          .redirect('/mailbox', 303)
      if (!isOperator(request, deps.operatorAccess))
        return sendPage(reply.code(403), CLOSED, PAGE_POLICY)
      return sendPage(reply, listPage(await listSandboxMails(deps.db)), PAGE_POLICY)
    },
  }),
  hiddenRoute({
    method: 'GET',
    url: '/mailbox/:id',
    access: 'machine',
    async handle(request, reply, deps: Deps) {
      if (!isOperator(request, deps.operatorAccess)) return restError(reply, 403, 'forbidden')
      const mail = await findMail(deps, request)
      if (!mail) return restError(reply, 404, 'mail_not_found')
      return sendPage(reply, mailPage(mail), PAGE_POLICY)
    },
  }),
  hiddenRoute({
    method: 'GET',
    url: '/mailbox/:id/html',
    access: 'machine',
    async handle(request, reply, deps: Deps) {
      if (!isOperator(request, deps.operatorAccess)) return restError(reply, 403, 'forbidden')
      const mail = await findMail(deps, request)
      if (!mail) return restError(reply, 404, 'mail_not_found')
      return sendPage(reply, mail.html, MAIL_POLICY)
    },
  }),
]

async function findMail({ db }: Deps, request: FastifyRequest): Promise<SandboxMail | undefined> {
  const { id } = request.params as { id: string }
  return isUuid(id) ? findSandboxMail(db, id) : undefined
}

function sendPage(reply: FastifyReply, html: string, policy: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-store')
    .send(html)
}

function listPage(
  mails: readonly Pick<SandboxMail, 'id' | 'to' | 'subject' | 'createdAt'>[],
): string {
  const items = mails.map(
    ({ id, to, subject, createdAt }) =>
      `<li><a href="/mailbox/${id}">${escapeHtml(subject)}</a><small>${time(createdAt)} para ${escapeHtml(to)}</small></li>`,
  )
  return page(
    'Caixa de e-mails do sandbox',
    `<p>Nada daqui foi enviado a ninguém. Os ${SANDBOX_MAILS_MAX} mais novos, o último primeiro.</p>
${items.length === 0 ? '<p>Ainda não há e-mails.</p>' : `<ol>${items.join('\n')}</ol>`}`,
  )
}

function mailPage(mail: SandboxMail): string {
  const out = mail.listUnsubscribe
  return page(
    mail.subject,
    `<p><a href="/mailbox">Todos os e-mails</a></p>
<p>Para: ${escapeHtml(mail.to)}<br>Data: ${time(mail.createdAt)}${out === null ? '' : `<br>List-Unsubscribe: ${escapeHtml(out)}`}</p>
<h2>HTML</h2><iframe title="O e-mail em HTML" sandbox src="/mailbox/${mail.id}/html"></iframe>
<h2>Texto</h2><pre>${withLinks(mail.text)}</pre>`,
  )
}

const CLOSED = page(
  'Caixa de e-mails do sandbox',
  '<p>Abra o endereço da caixa que o servidor mostrou ao iniciar, no terminal. Depois disso, este navegador a vê.</p>',
)

/** Links in the frame above lead nowhere: it may not leave its page. */
function withLinks(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, index) => {
      const shown = escapeHtml(part)
      return index % 2 === 1 ? `<a href="${shown}">${shown}</a>` : shown
    })
    .join('')
}

function page(title: string, body: string): string {
  return plainPage(title, body, { isWide: true })
}

function time(at: Date): string {
  const iso = at.toISOString()
  return `<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}
