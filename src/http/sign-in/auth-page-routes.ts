/**
 * The pages behind the links of mails: to confirm an e-mail, to sign in without a password, to choose a new password.
 * Following a link changes nothing, because link scanners follow it too; the button or the password does.
 *
 * Confirming an e-mail takes both the password and the link. A person who signed up with somebody else's address has
 * only the password; the owner of the address has only the link, and following it does not open the account to the
 * other person.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml } from '../../platform/lib/html.ts'
import type { Auth } from '../../identity/sign-in/create-auth.ts'
import { isOwnPath } from '../../identity/sign-in/own-path.ts'
import { findAwaitingFactor } from '../../identity/sign-in/find-awaiting-factor.ts'
import { proveUser } from '../../identity/sign-in/prove-user.ts'
import {
  CONFIRM_PATH,
  LINK_PATH,
  NEW_PASSWORD_PATH,
  PASSWORD_MAX,
  PASSWORD_MIN,
} from '../../identity/sign-in/sign-in-terms.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute } from '../rest/route.ts'
import { AUTH_BODY_BYTES_MAX } from './auth-body.ts'
import { authOf, clientHeaders, passCookies, signInIsOff } from './auth-routes.ts'
import { isPasswordOf, isFromOwnPage } from './own-session.ts'
import { limitCaller } from './limit-caller.ts'
import { rememberDevice } from './login-session-routes.ts'
import { plainPage, sendPrivatePage } from '../rest/send-page.ts'

/** The token is in the address, so no other page may learn the address. */
function sendAuthPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return sendPrivatePage(reply, status, html, { referrerPolicy: 'same-origin' })
}

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn'>

interface Form {
  readonly auth: Auth
  readonly token: string
  readonly password: string
  /** Always a path of this site. */
  readonly returnTo: string | undefined
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

type PageOf = (token: string, more?: { fault?: string; returnTo?: string | undefined }) => string

/** The page that a link of a mail leads to, and its form. */
const pageRoutes = (
  url: string,
  page: PageOf,
  onPost: (deps: Deps, form: Form) => Promise<FastifyReply>,
) => [
  hiddenRoute({
    method: 'GET',
    url,
    access: 'public',
    handle(request, reply) {
      const { token, returnTo } = request.query as { token?: unknown; returnTo?: unknown }
      const html = page(typeof token === 'string' ? token : '', { returnTo: ownPath(returnTo) })
      return sendAuthPage(reply, 200, html)
    },
  }),
  hiddenRoute({
    method: 'POST',
    url,
    access: 'public',
    bodyBytesMax: AUTH_BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const auth = await authOf(deps, request)
      if (!auth) return signInIsOff(reply)
      // A page of another site must not sign the browser in as somebody else.
      if (!isFromOwnPage(deps, request)) return sendAuthPage(reply, 403, ELSEWHERE)
      const fields = new URLSearchParams(
        Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '',
      )
      const [token, password] = [fields.get('token') ?? '', fields.get('password') ?? '']
      const returnTo = ownPath(fields.get('returnTo'))
      return onPost(deps, { auth, token, password, returnTo, request, reply })
    },
  }),
]

export const authPageRoutes = [
  ...pageRoutes(CONFIRM_PATH, confirmPage, confirm),
  ...pageRoutes(LINK_PATH, linkPage, enter),
  ...pageRoutes(NEW_PASSWORD_PATH, newPasswordPage, choosePassword),
]

/** Anybody may have written the link, so its target is not trusted. */
function ownPath(value: unknown): string | undefined {
  return typeof value === 'string' && isOwnPath(value) ? value : undefined
}

async function confirm(deps: Deps, form: Form): Promise<FastifyReply> {
  const { auth, token, password, request, reply } = form
  const userId = deps.signIn.confirmTokens.userOf(token)
  const { internalAdapter } = await auth.$context
  const user = userId === undefined ? null : await internalAdapter.findUserById(userId)
  if (!user) return sendAuthPage(reply, 400, SPENT_CONFIRMATION)
  const limited = await limitCaller(deps, 'password', { request, email: user.email })
  if (limited.kind === 'refused')
    return sendAuthPage(
      reply,
      429,
      confirmPage(token, { fault: 'Tentativas demais. Espere dez minutos.' }),
    )
  if (!(await isPasswordOf(auth, user.id, password)))
    return sendAuthPage(
      reply,
      400,
      confirmPage(token, { fault: 'A senha não é a que foi escolhida ao criar a conta.' }),
    )
  await limited.giveBack()
  await proveUser(deps.db, user.id)
  const answer = await auth.api.signInEmail({
    body: { email: user.email, password },
    headers: clientHeaders(request),
    asResponse: true,
  })
  return answer.ok
    ? goOn(deps, { request, reply }, answer, '/confirmado')
    : sendAuthPage(reply, 400, SPENT_CONFIRMATION)
}

async function enter(
  deps: Deps,
  { auth, token, returnTo = '/', request, reply }: Form,
): Promise<FastifyReply> {
  const answer = await auth.api.magicLinkVerify({
    query: { token },
    headers: clientHeaders(request),
    asResponse: true,
  })
  return answer.ok
    ? goOn(deps, { request, reply }, answer, returnTo)
    : sendAuthPage(reply, 400, SPENT_LINK)
}

async function choosePassword(
  _deps: Deps,
  { auth, token, password, reply }: Form,
): Promise<FastifyReply> {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX)
    return sendAuthPage(reply, 400, newPasswordPage(token, { fault: LENGTH_WANTED }))
  const answer = await auth.api.resetPassword({
    body: { token, newPassword: password },
    asResponse: true,
  })
  return answer.ok
    ? sendAuthPage(reply, 200, CHOSEN)
    : sendAuthPage(reply, 400, SPENT_PASSWORD_LINK)
}

/**
 * Redirects to pages of the dashboard, first to the page for the code if one is required. Who came by the link of a mail
 * has the mailbox: their browser is known from then on, so that whoever has only the password does not use up its codes.
 */
async function goOn(
  deps: Deps,
  { request, reply }: Pick<Form, 'request' | 'reply'>,
  answer: Response,
  path: string,
): Promise<FastifyReply> {
  passCookies(reply, answer)
  const awaited = await findAwaitingFactor(deps.db, answer)
  if (awaited !== undefined) rememberDevice(deps, request, reply, awaited)
  const location =
    awaited === undefined
      ? path
      : `${CODE_PAGE}?${new URLSearchParams({ voltar: path }).toString()}`
  return reply.code(303).header('location', location).header('cache-control', 'no-store').send()
}

export const CODE_PAGE = '/entrar/codigo'
const LENGTH_WANTED = `A senha precisa ter de ${PASSWORD_MIN} a ${PASSWORD_MAX} caracteres.`
const TO_ENTRANCE = '<p><a href="/entrar">Ir para a página de login</a></p>'

function confirmPage(token: string, { fault }: { fault?: string } = {}): string {
  return plainPage(
    'Confirmar o e-mail',
    `<p>Digite a senha que você escolheu ao criar a conta. Com isso o seu e-mail fica confirmado e você entra.</p>
${form({ token }, 'Confirmar e entrar', { fault, autocomplete: 'current-password', label: 'Senha' })}
<p>Não se lembra da senha? <a href="/entrar">Peça um link de acesso</a>: ele também confirma o e-mail.</p>`,
  )
}

function linkPage(token: string, { returnTo }: { returnTo?: string | undefined } = {}): string {
  return plainPage(
    'Entrar na sua conta',
    `<p>Você pediu um link de acesso. Ele funciona uma vez só.</p>${form({ token, returnTo }, 'Entrar')}`,
  )
}

function newPasswordPage(token: string, { fault }: { fault?: string } = {}): string {
  return plainPage(
    'Escolher uma nova senha',
    `<p>${LENGTH_WANTED} Quem estiver com a sua conta aberta em outro lugar terá de entrar de novo.</p>
${form({ token }, 'Salvar a senha', { fault, autocomplete: 'new-password', label: 'Nova senha' })}`,
  )
}

function form(
  kept: Readonly<Record<string, string | undefined>>,
  button: string,
  password?: { fault: string | undefined; autocomplete: string; label: string },
): string {
  const hidden = Object.entries(kept)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value ?? '')}">`,
    )
    .join('')
  if (!password) return `<form method="post">${hidden}<button>${button}</button></form>`
  const { fault, autocomplete, label } = password
  const wrong = fault === undefined ? '' : ' aria-invalid="true" aria-describedby="fault"'
  return `<form method="post">${hidden}<label for="password">${label}</label>
<input id="password" name="password" type="password" required maxlength="${PASSWORD_MAX}" autocomplete="${autocomplete}" autofocus${wrong}>
${fault === undefined ? '' : `<p id="fault" class="fault" role="alert">${escapeHtml(fault)}</p>`}
<button>${button}</button></form>`
}

const SPENT_CONFIRMATION = plainPage(
  'O link não vale mais',
  `<p>Ele vale por 24 horas. Peça um link de acesso: ele também confirma o e-mail.</p>${TO_ENTRANCE}`,
)
const SPENT_LINK = plainPage(
  'O link não vale mais',
  `<p>Um link de acesso funciona uma vez só e vale por 15 minutos. Peça outro.</p>${TO_ENTRANCE}`,
)
const SPENT_PASSWORD_LINK = plainPage(
  'O link não vale mais',
  `<p>Um link para escolher a senha funciona uma vez só e vale por uma hora. Peça outro.</p>${TO_ENTRANCE}`,
)
const CHOSEN = plainPage('Senha salva', `<p>Entre com a nova senha.</p>${TO_ENTRANCE}`)
const ELSEWHERE = plainPage(
  'O pedido veio de outra página',
  `<p>Abra de novo o endereço que está no e-mail.</p>${TO_ENTRANCE}`,
)
