/**
 * The pages for visitors. `/` and `/modelos` show the dashboard instead to a browser that is signed in: the cookie
 * decides, unread, because the dashboard asks for the session itself.
 */
import type { FastifyReply } from 'fastify'
import { hasSessionCookie } from '../../identity/sign-in/session-cookie.ts'
import { listDocPaths } from '../docs/list-doc-paths.ts'
import { hiddenRoute, type Route } from '../../http/rest/route.ts'
import { robotsText, sitemap } from './crawler-files.ts'
import { landingPage } from './landing-page.ts'
import { modelPage } from './model-page.ts'
import { modelPath } from './model-words.ts'
import { modelsPage } from './models-page.ts'
import { notFoundPage } from './not-found-page.ts'
import { OF_EVERYBODY, OF_THIS_BROWSER } from './send-page.ts'
import { sendWritten, type Page, type Visit } from './send-written.ts'
import type { SiteDeps } from './layout.ts'

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
      return sendWritten(visit, modelPath(model), {
        cacheControl: OF_EVERYBODY,
        write: (facts, origin) => modelPage(model, facts, origin, deps),
      })
    const named = deps.catalog.findNamed(name)
    if (named) return reply.redirect(modelPath(named), 301)
    return sendWritten(visit, '404', {
      status: 404,
      cacheControl: OF_EVERYBODY,
      write: () => notFoundPage(deps),
    })
  }),
  pageRoute('/robots.txt', (visit) =>
    sendWritten(visit, '/robots.txt', {
      type: 'text/plain; charset=utf-8',
      cacheControl: OF_EVERYBODY,
      write: (_facts, origin) => robotsText(origin, visit.deps.config.mode),
    }),
  ),
  pageRoute('/sitemap.xml', (visit) =>
    sendWritten(visit, '/sitemap.xml', {
      type: 'application/xml; charset=utf-8',
      cacheControl: OF_EVERYBODY,
      write: ({ models }, origin) =>
        sitemap(models, listDocPaths(visit.request.server.swagger()), origin),
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
    : sendWritten(visit, name, { cacheControl: OF_THIS_BROWSER, write })
}
