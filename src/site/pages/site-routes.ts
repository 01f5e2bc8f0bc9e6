/**
 * The pages for visitors. `/` and `/modelos` show the dashboard instead to a browser that is signed in: the cookie
 * decides, unread, because the dashboard asks for the session itself.
 */
import type { FastifyReply } from 'fastify'
import { listDocPaths } from '../docs/write-doc-pages.ts'
import { hiddenRoute, type Route } from '../../http/rest/route.ts'
import { findServiceNews } from '../../http/incidents/find-service-news.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import type { HealthSummaries } from '../../platform/health/health-summaries.ts'
import { originOf } from '../../http/rest/request-headers.ts'
import { inLanguage, t } from '../../platform/lib/language.ts'
import { fxPage } from './fx-page.ts'
import { landingPage } from './landing-page.ts'
import { modelPage } from './model-page.ts'
import { modelPath, CATEGORY_WORDS } from './model-words.ts'
import {
  OF_EVERYBODY,
  OF_THIS_BROWSER,
  pagePolicy,
  sendPageOfVisit,
  sendWritten,
  visitInLanguage,
  type Page,
  type Visit,
} from './send-page.ts'
import { type SiteDeps, layout } from './layout.ts'
import { html, type Html, trustedHtml, escapeHtml } from '../../platform/lib/html.ts'
import { type Model, MODEL_CATEGORIES } from '../../money/catalog/model.ts'
import { priceTable, rateSentence } from './price-table.ts'
import type { SiteFacts } from './site-facts.ts'
import { within } from '../../platform/lib/within.ts'
import { statusFeed } from './status-feed.ts'
import {
  FEED_PATH,
  STATUS_DAYS,
  STATUS_STYLE,
  statusPage,
  type StatusFacts,
} from './status-page.ts'

/** `robots.txt` and `sitemap.xml`. */
const PUBLIC_PAGES = ['/', '/modelos', '/cambio', '/status', '/termos', '/privacidade']
/** Pages of one person, and the interface for programs. */
const NOT_CRAWLED = [
  '/v1/',
  '/auth/',
  '/admin',
  '/mailbox',
  '/files/',
  '/inbound/',
  '/unsubscribe/',
]

function robotsText(origin: string, mode: 'sandbox' | 'live'): Html {
  const refused = mode === 'sandbox' ? ['/'] : NOT_CRAWLED
  const lines = ['User-agent: *', ...refused.map((path) => `Disallow: ${path}`)]
  if (mode === 'live') lines.push(`Sitemap: ${origin}/sitemap.xml`)
  return trustedHtml(`${lines.join('\n')}\n`)
}

/** The public pages, those of the documentation, and the models that can be called. */
function sitemap(models: readonly Model[], docPaths: readonly string[], origin: string): Html {
  const offered = models.filter(({ routes }) => routes.length > 0)
  const lines = [...PUBLIC_PAGES, ...docPaths, ...offered.map(modelPath)].map(
    (path) => `<url><loc>${escapeHtml(`${origin}${path}`)}</loc></url>`,
  )
  const head = '<?xml version="1.0" encoding="UTF-8"?>'
  const list = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
  return trustedHtml([head, list, ...lines, '</urlset>', ''].join('\n'))
}

type Deps = SiteDeps & Pick<HttpParts, 'db'> & { readonly healthSummaries: HealthSummaries }

export const siteRoutes: readonly Route<Deps>[] = [
  pageRoute('/status', statusVisit),
  pageRoute(FEED_PATH, feedVisit),
  pageRoute('/', (visit) =>
    ofVisitor(visit, '/', (facts, origin) => landingPage(facts, origin, visit.deps)),
  ),
  pageRoute('/modelos', (visit) =>
    ofVisitor(visit, '/modelos', (facts) => modelsPage(facts, visit.deps)),
  ),
  pageRoute('/cambio', (visit) =>
    sendWritten(visit, '/cambio', {
      cacheControl: OF_EVERYBODY,
      write: (facts) => fxPage(facts, visit.deps),
    }),
  ),
  // An id may have slashes.
  pageRoute('/modelos/*', (visit) => {
    const { request, reply, deps } = visit
    const name = (request.params as { '*': string })['*']
    const model = deps.catalog.findModel(name)
    if (model) {
      const write: Page['write'] = (facts, origin) => modelPage(model, facts, origin, deps)
      // The dashboard's page of the model leads here for what only visitors' pages have.
      const isAsked = (request.query as Record<string, unknown>).publica !== undefined
      return isAsked
        ? sendWritten(visit, modelPath(model), { cacheControl: OF_THIS_BROWSER, write })
        : ofVisitor(visit, modelPath(model), write)
    }
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

type DepsVisit = Visit & { readonly deps: Deps }

/** Read at every visit: nobody should look at the state of an hour ago. */
async function statusVisit({ request, reply, deps }: DepsVisit): Promise<FastifyReply> {
  if (deps.isSignedIn) return deps.webApp.sendFirstPage(reply.header('vary', 'cookie'))
  const facts = await within(STATUS_MS_MAX, readStatus(deps)).catch(() => undefined)
  const text = inLanguage(deps.language ?? 'pt-BR', () => statusPage(facts, deps))
  const page = { status: facts ? 200 : 503, type: 'text/html; charset=utf-8', text }
  return sendPageOfVisit(request, reply, page, {
    cacheControl: OF_THIS_BROWSER,
    policy: STATUS_POLICY,
  })
}

/** Without a database there is no feed for now, which readers tell from an empty one. */
async function feedVisit({ request, reply, deps }: DepsVisit): Promise<FastifyReply> {
  const news = await within(STATUS_MS_MAX, findServiceNews(deps)).catch(() => undefined)
  const page = news
    ? {
        status: 200,
        type: 'application/atom+xml; charset=utf-8',
        text: statusFeed(news, originOf(request, deps.config.publicUrl)),
      }
    : { status: 503, type: 'text/plain; charset=utf-8', text: html`Volte em alguns minutos.` }
  return sendPageOfVisit(request, reply, page, { cacheControl: OF_THIS_BROWSER })
}

async function readStatus(deps: Deps): Promise<StatusFacts> {
  const [news, lastDay, health] = await Promise.all([
    findServiceNews(deps),
    deps.healthSummaries.find(1),
    deps.healthSummaries.find(STATUS_DAYS),
  ])
  return { news, lastDay, health, now: new Date() }
}

/** Without a database, the page has to say so soon. */
const STATUS_MS_MAX = 5_000
const STATUS_POLICY = pagePolicy([STATUS_STYLE])

function pageRoute(
  url: string,
  handle: (visit: DepsVisit) => FastifyReply | Promise<FastifyReply>,
): Route<Deps> {
  return hiddenRoute<Deps>({
    method: 'GET',
    url,
    access: 'public',
    handle: (request, reply, deps) => handle(visitInLanguage(request, reply, deps)),
  })
}

function ofVisitor(
  visit: Visit,
  name: string,
  write: Page['write'],
): FastifyReply | Promise<FastifyReply> {
  const { reply, deps } = visit
  return deps.isSignedIn
    ? deps.webApp.sendFirstPage(reply.header('vary', 'cookie'))
    : sendWritten(visit, name, { cacheControl: OF_THIS_BROWSER, write })
}

function notFoundPage(deps: SiteDeps): Html {
  return layout(
    {
      path: '/modelos',
      title: t('Modelo não encontrado · Catraca'),
      description: t('Não há um modelo com esse nome no catálogo.'),
      isIndexed: false,
      main: html`<div class="wrap">
        <h1>Modelo não encontrado</h1>
        <p class="lead">
          Não há um modelo com esse nome no catálogo. Ele pode ter saído, ou o endereço está errado.
        </p>
        <div class="acts"><a class="button" href="/modelos">Ver os modelos</a></div>
      </div>`,
    },
    deps,
  )
}

/** `/modelos` for visitors: the whole catalog with its prices. */
function modelsPage({ models, fxRate }: SiteFacts, deps: SiteDeps): Html {
  const kinds = MODEL_CATEGORIES.map((category) => ({
    category,
    own: models.filter((model) => model.category === category),
  })).filter(({ own }) => own.length > 0)
  return layout(
    {
      path: '/modelos',
      title: t('Modelos de IA e preços em reais · Catraca'),
      description: t`Preços em reais de ${models.length} modelos de IA por milhão de tokens, com a PTAX do dia e o multiplicador já incluídos.`,
      main: html`<div class="wrap">
        <h1>Modelos e preços</h1>
        <p class="lead">
          O preço de agora, em reais, com câmbio e multiplicador já incluídos. Tokens: por milhão.
        </p>
        ${
          fxRate &&
          html`<p class="small muted">
            ${rateSentence(fxRate)}. <a href="/cambio">Histórico do câmbio</a>. Para programas:
            <a href="/v1/model-prices"><code>/v1/model-prices</code></a
            >.
          </p>`
        }
        ${!fxRate && html`<p class="notice">Ainda não há taxa de câmbio, e sem ela não há preço em reais.</p>`}
        ${
          fxRate &&
          kinds.map(
            ({ category, own }) =>
              html`<h2 id="${category}" class="gap">${t(CATEGORY_WORDS[category])}</h2>
                ${priceTable(own, fxRate, t`Preços em reais: ${t(CATEGORY_WORDS[category])}`)}`,
          )
        }
      </div>`,
    },
    deps,
  )
}
