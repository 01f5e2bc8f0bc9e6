/**
 * `/unsubscribe/<token>?preference=<name>` ends optional mails of one kind (RFC 8058), by default the weekly digest. Following the link only shows a button, because link
 * scanners follow it too. The button sends a POST, and mail programs send one by themselves.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isCustomerDeleted } from '../../customers/customers.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { savePreferences } from '../../customers/preferences.ts'
import type { MailPreference } from '../../deliveries/email/mail-content.ts'
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
        : sendPage(reply, 200, questionPage(endedBy(request)))
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
      const preference = endedBy(request)
      await endMails(deps, request, { customerId, preference })
      return sendPage(reply, 200, donePage(preference))
    },
  }),
]

function customerOf(request: FastifyRequest, { unsubscribe }: Deps): string | undefined {
  return unsubscribe.customerOf((request.params as { token: string }).token)
}

const KINDS: Readonly<Record<MailPreference, { readonly title: string; readonly mails: string }>> =
  {
    weekly_digest_enabled: { title: 'o resumo semanal', mails: 'o resumo semanal por e-mail' },
    incident_email_enabled: {
      title: 'os avisos de incidentes',
      mails: 'e-mails sobre incidentes no serviço',
    },
  }

/** Only the customer is signed: whoever has a link of one kind may end the other, too. */
function endedBy({ query }: FastifyRequest): MailPreference {
  const { preference } = query as { preference?: unknown }
  return preference === 'incident_email_enabled' ? preference : 'weekly_digest_enabled'
}

async function endMails(
  { db }: Deps,
  request: FastifyRequest,
  { customerId, preference }: { customerId: string; preference: MailPreference },
): Promise<void> {
  const actor = { kind: 'customer', customerId, ip: plainIp(request.ip) } as const
  try {
    const change = { [preference]: false }
    await savePreferences(db, actor, { customerId, change, by: 'unsubscribe_link' })
  } catch (error) {
    // A deleted customer gets no mails.
    if (!isCustomerDeleted(error)) throw error
  }
}

function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return sendPrivatePage(reply, status, html, { referrerPolicy: 'no-referrer' })
}

function questionPage(preference: MailPreference): string {
  const { title, mails } = KINDS[preference]
  return plainPage(
    `Cancelar ${title}`,
    `<p>Você não receberá mais ${mails}. Recibos e avisos sobre a sua conta continuam.</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Não receber mais</button></form>`,
  )
}

function donePage(preference: MailPreference): string {
  return plainPage(
    'Pronto',
    `<p>Pronto: você não receberá mais ${KINDS[preference].mails}. Para voltar a receber, altere as <a href="/perfil">preferências da sua conta</a>.</p>`,
  )
}

const UNKNOWN = plainPage(
  'Endereço desconhecido',
  '<p>Este endereço não é de um e-mail nosso, ou não está inteiro. Copie-o de novo do e-mail.</p>',
)
