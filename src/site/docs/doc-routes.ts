/** The documentation: guides and reference, written by the server. */
import '@fastify/swagger'
import { html, trustedHtml, htmlText, type Html } from '../../platform/lib/html.ts'
import { t, type Language } from '../../platform/lib/language.ts'
import type { Route } from '../../http/rest/route.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import {
  OF_EVERYBODY,
  pagePolicy,
  sendWritten,
  visitInLanguage,
  visitOf,
  type Visit,
} from '../pages/send-page.ts'
import { type ApiDocument, errorAnchor } from './api-document.ts'
import { docFrame, SEARCH_INDEX_PATHS } from './doc-frame.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { createDocs, guideFacts, type Docs } from './write-doc-pages.ts'
import type { GuideFacts } from './doc-page.ts'
import { listErrorCodes } from './errors-page.ts'
import { errorAdvice } from './error-advice.ts'

/** The search index, and what is tried out, come from this server. */
const POLICY = pagePolicy([DOCS_STYLE], "'self'")

const INDEXES = Object.entries(SEARCH_INDEX_PATHS) as [Language, string][]

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
          for (const [language, index] of INDEXES)
            if (path === index)
              return sendIndex(visitOf(request, reply, { ...deps, language }), docs, index)
          return answer(visitInLanguage(request, reply, deps), docs, path)
        },
      }
    },
  }
}

function answer(visit: Visit, docs: Docs, path: string) {
  const { deps } = visit
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

function sendIndex(visit: Visit, docs: Docs, path: string) {
  return sendWritten(visit, path, {
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
      title: t('Página não encontrada · Documentação da Catraca'),
      description: t('Esta página da documentação não existe.'),
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

/** What the search of the documentation reads: one entry for each section of a guide and each operation. */
function searchIndex(docs: Docs, facts: GuideFacts): readonly SearchEntry[] {
  return [...guideEntries(docs, facts), ...operationEntries(docs), ...errorEntries(docs)]
}

function guideEntries({ pages }: Docs, facts: GuideFacts): SearchEntry[] {
  return [...pages.values()].flatMap((write) => {
    const { title, description, path, sections } = write(facts)
    if (sections.length === 0) return []
    return [
      { title, within: t('Guia'), path, words: wordsOf(`${title} ${description}`) },
      ...sections.map(({ id, heading, body }) => ({
        title: heading,
        within: title,
        path: `${path}#${id}`,
        words: wordsOf(`${heading} ${title} ${textOf(body)}`),
      })),
    ]
  })
}

function operationEntries({ resources }: Docs): SearchEntry[] {
  return resources.flatMap(({ path, title, operations }) =>
    operations.map(({ method, path: at, summary, anchor, parameters, body }) => ({
      title: `${method} /v1${at}`,
      within: t(summary),
      path: `${path}#${anchor}`,
      words: wordsOf(
        [
          method,
          at,
          t(summary),
          t(title),
          ...parameters.map(({ name }) => name),
          ...Object.keys(body?.schema.properties ?? {}),
        ].join(' '),
      ),
    })),
  )
}

function errorEntries({ operations }: Docs): SearchEntry[] {
  return listErrorCodes(operations).map(({ code, statuses }) => ({
    title: code,
    within: t`Erro ${statuses.join(', ')}`,
    path: `/docs/erros#${errorAnchor(code)}`,
    words: wordsOf(
      `${code} ${code.replaceAll('_', ' ')} ${statuses.join(' ')} ${errorAdvice(code) ?? ''}`,
    ),
  }))
}

/** Code is not searched for: the words around it say what it does. */
function textOf(body: Html): string {
  return htmlText(body)
    .replace(/<pre[^]*?<\/pre>/g, ' ')
    .replace(/<[^>]*>|&\w+;/g, ' ')
}

/** The script splits what is typed in the same way (`web/site/rank-entries.ts`). */
function wordsOf(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return [...new Set(plain.match(/[a-z0-9_-]{2,}/g))].join(' ')
}

/** A line of the search index, as the page's script reads it. */
export interface SearchEntry {
  readonly title: string
  /** What the entry is a part of. */
  readonly within: string
  readonly path: string
  /** Without accents and in lower case, each once. */
  readonly words: string
}
