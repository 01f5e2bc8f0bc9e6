/** What the search of the documentation reads: one entry for each section of a guide and each operation. */
import { htmlText, type Html } from '../../platform/lib/html.ts'
import type { GuideFacts } from './doc-page.ts'
import { listErrorCodes } from './errors-page.ts'
import { errorAnchor } from './api-document.ts'
import { errorAdvice } from './error-advice.ts'
import type { SearchEntry } from './search-entry.ts'
import type { Docs } from './write-doc-pages.ts'

export function searchIndex(docs: Docs, facts: GuideFacts): readonly SearchEntry[] {
  return [...guideEntries(docs, facts), ...operationEntries(docs), ...errorEntries(docs)]
}

function guideEntries({ pages }: Docs, facts: GuideFacts): SearchEntry[] {
  return [...pages.values()].flatMap((write) => {
    const { title, description, path, sections } = write(facts)
    if (sections.length === 0) return []
    return [
      { title, within: 'Guia', path, words: wordsOf(`${title} ${description}`) },
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
      within: summary,
      path: `${path}#${anchor}`,
      words: wordsOf(
        [
          method,
          at,
          summary,
          title,
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
    within: `Erro ${statuses.join(', ')}`,
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
export function wordsOf(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return [...new Set(plain.match(/[a-z0-9_-]{2,}/g))].join(' ')
}
