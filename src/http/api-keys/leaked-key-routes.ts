/** Anybody may report a key that lies in the open. The answer is the same whether the key exists or not. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { answer } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { hiddenRoute } from '../rest/route.ts'
import { plainPage, sendPrivatePage } from '../rest/send-page.ts'
import type { HttpParts } from '../rest/parts.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { pauseLeakedKey } from '../../customers/key-acts.ts'
import { API_KEY_PREFIX } from '../../customers/key-secret.ts'
import { limitAttempts } from '../../platform/admission/attempts.ts'
import { nearNetwork } from '../../platform/lib/client-networks.ts'

/** From one IPv4 address or IPv6 /64, over all nodes. */
const REPORTS = { max: 20, seconds: 3_600 }
/** Reporters copy what stands around a key along: quotes, the name of a variable, the scheme. */
const SECRET = new RegExp(`${API_KEY_PREFIX}[\\w-]+`)

/**
 * Pauses the key with this secret, if there is one; nothing tells the reporter whether there is. Returns the seconds to
 * wait for a network that has reported too often. The secret is neither stored nor logged.
 */
async function reportLeakedKey(
  { db }: Pick<HttpParts, 'db'>,
  request: FastifyRequest,
  reported: string,
): Promise<number | undefined> {
  const ip = plainIp(request.ip)
  const wait = await limitAttempts(db, `leaked-key:${nearNetwork(ip)}`, REPORTS)
  if (wait !== undefined) return wait
  await pauseLeakedKey(db, { kind: 'system', ip }, SECRET.exec(reported)?.[0] ?? reported)
  return undefined
}

type Deps = Pick<HttpParts, 'db'>

const SECRET_LENGTH_MAX = 200
const PAGE_BODY_BYTES_MAX = 4_096
const PAGE = '/chave-vazada'

export const leakedKeyRoutes = [
  restRoute({
    method: 'POST',
    path: '/leaked-keys',
    tag: 'Chaves',
    summary:
      'Informa uma chave exposta: se ela existe, é pausada na hora, e quem é dono recebe um aviso',
    access: 'public',
    body: Type.Object(
      { key: Type.String({ minLength: 1, maxLength: SECRET_LENGTH_MAX }) },
      { additionalProperties: false },
    ),
    answer: answer({ received: Type.Literal(true) }),
    refusals: { 429: ['too_many_requests'] },
    async handle({ body, request, reply }, deps: Deps) {
      const wait = await reportLeakedKey(deps, request, body.key.trim())
      if (wait !== undefined) {
        reply.header('retry-after', wait)
        throw new RestRefusal(429, 'too_many_requests', `tente de novo em ${wait} segundos`)
      }
      return { received: true as const }
    },
  }),
  hiddenRoute({
    method: 'GET',
    url: PAGE,
    access: 'public',
    handle: async (_request, reply) => sendPage(reply, 200, FORM),
  }),
  hiddenRoute({
    method: 'POST',
    url: PAGE,
    access: 'public',
    bodyBytesMax: PAGE_BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
      const key = new URLSearchParams(body).get('key')?.trim() ?? ''
      if (key === '' || key.length > SECRET_LENGTH_MAX) return sendPage(reply, 400, FORM)
      const wait = await reportLeakedKey(deps, request, key)
      if (wait === undefined) return sendPage(reply, 200, DONE)
      reply.header('retry-after', wait)
      return sendPage(reply, 429, TOO_MANY)
    },
  }),
]

function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return sendPrivatePage(reply, status, html, { referrerPolicy: 'no-referrer' })
}

const FORM = page(
  `<p>Achou uma chave de API (<code>sk-svc-…</code>) num repositório, num site ou numa conversa? Informe aqui. Se ela for nossa, é pausada na hora, e quem é dono recebe um aviso. Não é preciso ter conta.</p>
<form method="post"><label for="key">Chave</label><input id="key" name="key" required maxlength="${SECRET_LENGTH_MAX}" autocomplete="off" spellcheck="false"> <button>Informar</button></form>`,
)
const DONE = page('<p>Recebido, obrigado. Se a chave for nossa, ela já está pausada.</p>')
const TOO_MANY = page('<p>Muitos avisos deste endereço. Tente de novo mais tarde.</p>')

function page(body: string): string {
  return plainPage('Chave de API exposta', body)
}
