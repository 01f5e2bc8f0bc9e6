/** The pages of the reference, one for each resource. */
import { html } from '../../platform/lib/html.ts'
import type { DocGroup, DocPage, GuideFacts } from './doc-page.ts'
import { operationArticle } from './operation-article.ts'
import type { ReferenceResource } from './resources-of-reference.ts'

export function referencePage(resource: ReferenceResource, facts: GuideFacts): DocPage {
  const { path, title, description, isForOperators, operations } = resource
  return {
    path,
    title: isForOperators ? `${title} (operação)` : `${title}: referência`,
    description,
    isIndexed: !isForOperators,
    sections: [],
    content: html`<nav class="toc" aria-label="Nesta página">
        <ul>
          ${operations.map(
            ({ anchor, method, path: at, summary }) =>
              html`<li>
                <a href="#${anchor}"
                  ><span class="verb">${method}</span> <code>/v1${at}</code
                  ><span class="only-read">: ${summary}</span></a
                >
              </li>`,
          )}
        </ul>
      </nav>
      ${isForOperators && OPERATORS_NOTE}
      ${operations.map((operation) => operationArticle(operation, facts))}`,
  }
}

const OPERATORS_NOTE = html`<p class="small muted">
  Operações de quem opera o serviço. Elas só valem numa sessão do painel com a verificação em duas
  etapas; as leituras, também com a chave operator de quem opera.
</p>`

export function referenceGroups(resources: readonly ReferenceResource[]): readonly DocGroup[] {
  const group = (title: string, isForOperators: boolean): DocGroup => ({
    title,
    links: resources.filter((resource) => resource.isForOperators === isForOperators),
  })
  return [group('Referência da API', false), group('Operação do serviço', true)].filter(
    ({ links }) => links.length > 0,
  )
}
