/**
 * The dashboard: the files that Vite built, and the same first page for the path of every page. API paths are not
 * affected: an unknown API path is a 404 in the API's format. `/` belongs to `../site`.
 */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { Provider } from '../../identity/sign-in/providers.ts'
import { hasSessionCookie } from '../../identity/sign-in/session-cookie.ts'
import { visitorLanguage } from '../rest/request-headers.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export const WEB_DIST = join(import.meta.dirname, '../../../web/dist')

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const INTERFACES =
  /^\/(v1|auth|docs|mailbox|metrics|cambio|unsubscribe|termos|privacidade|files|inbound|healthz)(\/|$)/
/** The pages of `web/src/router.tsx` and `web/src/admin-routes.tsx`; any other address is a 404, with the page that says so. */
const PAGES =
  /^\/(|entrar(\/codigo)?|cadastrar|confirmado|status|modelos|uso|playground|(sessoes|prompts|equipes|webhooks)(\/[^/]+)?|seguranca|perfil|recargas(\/extrato)?|reembolsos|chaves|alertas|notificacoes|indicacoes|destinos-de-uso|admin(\/(clientes(\/[^/]+)?|ajustes|reembolsos|conciliacao|auditoria|margens|modelos|provedores|cambio|incidentes|saude|entregas))?)\/?$/
/** One year: file names change with their content. */
const HASHED_ASSET = 'public, max-age=31536000, immutable'

export interface WebApp {
  /** Sends the first page if the request is for a page; otherwise returns undefined. */
  answerPage(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined
  sendFirstPage(reply: FastifyReply): FastifyReply
  /** The path of a built script by its name in `web/vite.config.ts`; undefined before a build. */
  findScript(name: string): string | undefined
}

/** `providers`: the services that people may sign in with here. */
export async function addWebApp(
  server: FastifyInstance,
  providers: readonly Provider[],
  dist = WEB_DIST,
): Promise<WebApp> {
  if (!existsSync(join(dist, 'index.html'))) {
    const sendFirstPage = (reply: FastifyReply): FastifyReply =>
      reply
        .code(503)
        .headers(HEADERS)
        .header('cache-control', 'no-cache')
        .type('text/html; charset=utf-8')
        .send(NOT_BUILT)
    return {
      answerPage: (request, reply) => (isPage(request) ? sendFirstPage(reply) : undefined),
      sendFirstPage,
      findScript: () => undefined,
    }
  }
  await server.register(fastifyStatic, {
    root: dist,
    // A route for each existing file, so that other addresses stay unknown.
    wildcard: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    index: [],
    preCompressed: true,
    cacheControl: false,
    setHeaders(reply, path) {
      const isHashed = /[\\/]assets[\\/]/.test(path)
      reply.header('cache-control', isHashed ? HASHED_ASSET : 'no-cache')
      reply.headers({ ...HEADERS, ...stills.get(basename(path).replace(/\.(br|gz)$/, '')) })
    },
  })
  // As `web/draw-stills.ts` names them.
  const ending = ['', ...(providers.length > 0 ? [providers.join('-')] : []), 'html'].join('.')
  const stills = readStills(dist, ending)
  const assets = existsSync(join(dist, 'assets')) ? readdirSync(join(dist, 'assets')) : []
  return {
    answerPage(request, reply) {
      if (!isPage(request)) return undefined
      const still = `${visitorPage(request)}${ending}`
      if (stills.has(still)) return reply.header('vary', 'accept-language, cookie').sendFile(still)
      return reply.code(PAGES.test(pathOf(request)) ? 200 : 404).sendFile('index.html')
    },
    sendFirstPage: (reply) => reply.sendFile('index.html'),
    findScript(name) {
      const file = assets.find((each) => each.startsWith(`${name}-`) && each.endsWith('.js'))
      return file && `/assets/${file}`
    },
  }
}

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/** The name of a visitor's page, in the visitor's language, without its ending. */
function visitorPage(request: FastifyRequest): string {
  if (hasSessionCookie(request.headers.cookie)) return ''
  return `${pathOf(request).replace(/^\/|\/$/g, '')}.${visitorLanguage(request)}`
}

/** The policy of each drawn page allows what is written into it: its style, and the script of the theme. */
function readStills(
  dist: string,
  ending: string,
): ReadonlyMap<string, { 'content-security-policy': string }> {
  const names = readdirSync(dist).filter(
    (name) => name.endsWith(ending) && /^\w+\.(pt-BR|en-US)$/.test(name.slice(0, -ending.length)),
  )
  return new Map(
    names.map((name) => {
      const text = readFileSync(join(dist, name), 'utf8')
      const policy = ['script', 'style'].reduce((written, tag) => {
        const [, own = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text) ?? []
        const source = `'sha256-${hash('sha256', own, 'base64')}'`
        return written.replace(`${tag}-src 'self'`, `${tag}-src 'self' ${source}`)
      }, POLICY)
      return [name, { 'content-security-policy': policy }]
    }),
  )
}

/** A page that a browser opens; programs get the 404 of an unknown address. */
function isPage(request: FastifyRequest): boolean {
  const { method, headers } = request
  const path = pathOf(request)
  const isFile = /\.[^/]*$/.test(path)
  return (
    (method === 'GET' || method === 'HEAD') &&
    !isFile &&
    !INTERFACES.test(path) &&
    (headers.accept ?? '').includes('text/html')
  )
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] as string
}

const NOT_BUILT = `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Catraca</title></head><body><main><h1>Catraca</h1>
<p>O painel ainda não foi construído neste servidor. Para isso, na pasta do projeto: <code>npm run web:build</code>, e reinicie o servidor.</p>
<p>O resto funciona: a <a href="/docs">referência da API</a>.</p></main></body></html>`
