/**
 * `/unsubscribe/<token>` ends the weekly digest (RFC 8058). Following the link only shows a button, because link
 * scanners follow it too. The button sends a POST, and mail programs send one by themselves.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isCustomerDeleted } from '../../customers/customers.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { savePreferences } from '../../customers/preferences.ts'
import { UNSUBSCRIBE_PATH } from '../../deliveries/email/unsubscribe-links.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute } from '../rest/route.ts'
import { plainPage, sendPrivatePage } from '../rest/send-page.ts'

type Deps = Pick<HttpParts, 'db' | 'unsubscribe'>

/** The body is `List-Unsubscribe=One-Click` in some encoding; it is not read. */
const BODY_BYTES_MAX = 4_096

const url = `${UNSUBSCRIBE_PATH}/:token`

export const unsubscribeRoutes = [
  hiddenRoute({
    method: 'GET',
    url,
    access: 'signed',
    async handle(request, reply, deps: Deps) {
      return customerOf(request, deps) === undefined
        ? sendPage(reply, 404, UNKNOWN)
        : sendPage(reply, 200, QUESTION)
    },
  }),
  hiddenRoute({
    method: 'POST',
    url,
    access: 'signed',
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const customerId = customerOf(request, deps)
      if (customerId === undefined) return sendPage(reply, 404, UNKNOWN)
      await endDigest(deps, request, customerId)
      return sendPage(reply, 200, DONE)
    },
  }),
]

function customerOf(request: FastifyRequest, { unsubscribe }: Deps): string | undefined {
  return unsubscribe.customerOf((request.params as { token: string }).token)
}

async function endDigest({ db }: Deps, request: FastifyRequest, customerId: string): Promise<void> {
  const actor = { kind: 'customer', customerId, ip: plainIp(request.ip) } as const
  try {
    const change = { weekly_digest_enabled: false }
    await savePreferences(db, actor, { customerId, change, by: 'unsubscribe_link' })
  } catch (error) {
    // A deleted customer gets no mails.
    if (!isCustomerDeleted(error)) throw error
  }
}

function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return sendPrivatePage(reply, status, html, { referrerPolicy: 'no-referrer' })
}

const QUESTION = plainPage(
  'Cancelar o resumo semanal',
  `<p>Você não receberá mais o resumo semanal por e-mail. Recibos e avisos sobre a sua conta continuam.</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Não receber mais</button></form>`,
)
const DONE = plainPage(
  'Resumo semanal cancelado',
  '<p>Pronto: você não receberá mais o resumo semanal. Para voltar a receber, altere as <a href="/perfil">preferências da sua conta</a>.</p>',
)
const UNKNOWN = plainPage(
  'Endereço desconhecido',
  '<p>Este endereço não é de um e-mail nosso, ou não está inteiro. Copie-o de novo do e-mail.</p>',
)
