/** The documentation: guides and reference, written by the server. */
import { html, trustedHtml } from '../../platform/lib/html.ts'
import type { Route } from '../../http/rest/route.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import { OF_EVERYBODY, pagePolicy } from '../pages/send-page.ts'
import { sendWritten, type Visit } from '../pages/send-written.ts'
import type { ApiDocument } from './api-document.ts'
import { docFrame, SEARCH_INDEX_PATH } from './doc-frame.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { searchIndex } from './search-index.ts'
import { createDocs, guideFacts, type Docs } from './write-doc-pages.ts'

/** The search index, and what is tried out, come from this server. */
const POLICY = pagePolicy([DOCS_STYLE], "'self'")

export const docRoutes: readonly Route<SiteDeps>[] = [docRoute('/docs'), docRoute('/docs/*')]

function docRoute(url: string): Route<SiteDeps> {
  return {
    method: 'GET',
    url,
    access: 'public',
    schema: { hide: true },
    handlersOf(deps) {
      let docs: Docs | undefined
      return {
        handler(request, reply) {
          docs ??= createDocs(request.server.swagger() as unknown as ApiDocument)
          const rest = (request.params as { '*'?: string })['*']
          const path = rest ? `/docs/${rest.replace(/\/$/, '')}` : '/docs'
          return answer({ request, reply, deps }, docs, path)
        },
      }
    },
  }
}

function answer(visit: Visit, docs: Docs, path: string) {
  const { deps } = visit
  if (path === SEARCH_INDEX_PATH) return sendIndex(visit, docs)
  const write = docs.pages.get(path)
  if (!write)
    return sendWritten(visit, '/docs 404', {
      status: 404,
      cacheControl: OF_EVERYBODY,
      write: () => missingPage(deps),
    })
  return sendWritten(visit, path, {
    cacheControl: OF_EVERYBODY,
    policy: POLICY,
    write: ({ models }, origin) => docFrame(write(guideFacts(models, origin)), docs.groups, deps),
  })
}

function sendIndex(visit: Visit, docs: Docs) {
  return sendWritten(visit, SEARCH_INDEX_PATH, {
    type: 'application/json; charset=utf-8',
    cacheControl: OF_EVERYBODY,
    write: ({ models }, origin) =>
      trustedHtml(JSON.stringify(searchIndex(docs, guideFacts(models, origin)))),
  })
}

function missingPage(deps: SiteDeps) {
  return layout(
    {
      path: '/docs',
      title: 'Página não encontrada · Documentação da Catraca',
      description: 'Esta página da documentação não existe.',
      isIndexed: false,
      main: html`<div class="wrap">
        <h1>Página não encontrada</h1>
        <p class="lead">Esta página da documentação não existe, ou mudou de endereço.</p>
        <div class="acts"><a class="button" href="/docs">Ver a documentação</a></div>
      </div>`,
    },
    deps,
  )
}
