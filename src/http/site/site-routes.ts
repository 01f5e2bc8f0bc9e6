/**
 * The pages for visitors. `/` and `/modelos` show the dashboard instead to a browser that is signed in: the cookie
 * decides, unread, because the dashboard asks for the session itself.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasSessionCookie } from '../../sign-in/session-cookie.ts'
import type { Html } from '../../lib/html.ts'
import { originOf } from '../rest/origin-of.ts'
import { hiddenRoute, type Route } from '../rest/route.ts'
import { robotsText, sitemap } from './crawler-files.ts'
import { landingPage } from './landing-page.ts'
import { modelPage } from './model-page.ts'
import { modelPath } from './model-words.ts'
import { modelsPage } from './models-page.ts'
import { notFoundPage } from './not-found-page.ts'
import { OF_EVERYBODY, OF_THIS_BROWSER, sendPage } from './send-page.ts'
import type { SiteDeps } from './site-deps.ts'
import type { SiteFacts } from './site-facts.ts'

const HTML = 'text/html; charset=utf-8'

interface Page {
  readonly status?: number
  readonly type?: string
  readonly cacheControl: string
  readonly write: (facts: SiteFacts, origin: string) => Html
}

/** `name`: of the written page, for one origin. */
async function send(
  { request, reply, deps }: Visit,
  name: string,
  { status = 200, type = HTML, cacheControl, write }: Page,
): Promise<FastifyReply> {
  const facts = await deps.siteFacts()
  const origin = originOf(request, deps.publicUrl)
  const page = await deps.sitePages.find(facts, `${origin} ${name}`, () => ({
    status,
    type,
    text: write(facts, origin),
  }))
  return sendPage(request, reply, page, cacheControl)
}

interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly deps: SiteDeps
}

export const siteRoutes: readonly Route<SiteDeps>[] = [
  pageRoute('/', (visit) =>
    ofVisitor(visit, '/', (facts, origin) => landingPage(facts, origin, visit.deps)),
  ),
  pageRoute('/modelos', (visit) =>
    ofVisitor(visit, '/modelos', (facts) => modelsPage(facts, visit.deps)),
  ),
  // An id may have slashes.
  pageRoute('/modelos/*', (visit) => {
    const { request, reply, deps } = visit
    const name = (request.params as { '*': string })['*']
    const model = deps.catalog.findModel(name)
    if (model)
      return send(visit, modelPath(model), {
        cacheControl: OF_EVERYBODY,
        write: (facts, origin) => modelPage(model, facts, origin, deps),
      })
    const named = deps.catalog.findNamed(name)
    if (named) return reply.redirect(modelPath(named), 301)
    return send(visit, '404', {
      status: 404,
      cacheControl: OF_EVERYBODY,
      write: () => notFoundPage(deps),
    })
  }),
  pageRoute('/robots.txt', (visit) =>
    send(visit, '/robots.txt', {
      type: 'text/plain; charset=utf-8',
      cacheControl: OF_EVERYBODY,
      write: (_facts, origin) => robotsText(origin, visit.deps.mode),
    }),
  ),
  pageRoute('/sitemap.xml', (visit) =>
    send(visit, '/sitemap.xml', {
      type: 'application/xml; charset=utf-8',
      cacheControl: OF_EVERYBODY,
      write: ({ models }, origin) => sitemap(models, origin),
    }),
  ),
]

function pageRoute(
  url: string,
  handle: (visit: Visit) => FastifyReply | Promise<FastifyReply>,
): Route<SiteDeps> {
  return hiddenRoute<SiteDeps>({
    method: 'GET',
    url,
    access: 'public',
    handle: (request, reply, deps) => handle({ request, reply, deps }),
  })
}

function ofVisitor(
  visit: Visit,
  name: string,
  write: Page['write'],
): FastifyReply | Promise<FastifyReply> {
  const { request, reply, deps } = visit
  return hasSessionCookie(request.headers.cookie)
    ? deps.webApp.sendFirstPage(reply.header('vary', 'cookie'))
    : send(visit, name, { cacheControl: OF_THIS_BROWSER, write })
}
