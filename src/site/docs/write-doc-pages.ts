/** All pages of the documentation, by their paths. A page is written when it is first asked for. */
import { operationOf, type Model, type ModelOperation } from '../../money/catalog/model.ts'
import { listOperations, type ApiDocument, type Operation } from './api-document.ts'
import {
  guidePath,
  type DocGroup,
  type DocPage,
  type GuideFacts,
  type ExampleModels,
  type DocLink,
  type Guide,
} from './doc-page.ts'
import { ERRORS_LINK, errorsPage } from './errors-page.ts'
import { resourcesOfReference, type ReferenceResource } from './resources-of-reference.ts'
import { html } from '../../platform/lib/html.ts'
import { t } from '../../platform/lib/language.ts'
import { chatSamples, PLACE_OF_SECRET } from '../pages/code-samples.ts'
import { sampleTabs } from './sample-blocks.ts'
import { operationArticle } from './operation-article.ts'
import { audioGuide } from './guides/audio.ts'
import { billingGuide } from './guides/billing.ts'
import { clientGuides } from './guides/clients.ts'
import { embeddingsGuide } from './guides/embeddings.ts'
import { firstCallGuide } from './guides/first-call.ts'
import { idempotencyGuide } from './guides/idempotency.ts'
import { imagesGuide } from './guides/images.ts'
import { keysAndBudgetsGuide } from './guides/keys-and-budgets.ts'
import { limitsGuide } from './guides/limits.ts'
import { streamingGuide } from './guides/streaming.ts'
import { structuredOutputsGuide } from './guides/structured-outputs.ts'
import { toolsGuide } from './guides/tools.ts'
import { usageDestinationsGuide } from './guides/usage-destinations.ts'
import { webhooksGuide } from './guides/webhooks.ts'

/** The guides in the order of reading. */
const OF_MODELS: readonly Guide[] = [
  firstCallGuide,
  streamingGuide,
  toolsGuide,
  structuredOutputsGuide,
  imagesGuide,
  audioGuide,
  embeddingsGuide,
]
const OF_OPERATION: readonly Guide[] = [
  limitsGuide,
  keysAndBudgetsGuide,
  billingGuide,
  idempotencyGuide,
  webhooksGuide,
  usageDestinationsGuide,
]

const GUIDES: readonly Guide[] = [...OF_MODELS, ...OF_OPERATION, ...clientGuides]

const GUIDE_GROUPS: readonly DocGroup[] = [
  { title: 'Chamar modelos', links: OF_MODELS.map(linkOf) },
  { title: 'Em produção', links: [ERRORS_LINK, ...OF_OPERATION.map(linkOf)] },
  { title: 'Clientes e bibliotecas', links: clientGuides.map(linkOf) },
]

function linkOf(guide: Guide): DocLink {
  return { path: guidePath(guide), title: guide.title, description: guide.description }
}

/** The pages of the reference, one for each resource. */
function referencePage(resource: ReferenceResource, facts: GuideFacts): DocPage {
  const { path, title, description, isForOperators, operations } = resource
  return {
    path,
    title: isForOperators ? t`${t(title)} (operação)` : t`${t(title)}: referência`,
    description: t(description),
    isIndexed: !isForOperators,
    sections: [],
    content: html`<nav class="toc" aria-label="Nesta página">
        <ul>
          ${operations.map(
            ({ anchor, method, path: at, summary }) =>
              html`<li>
                <a href="#${anchor}"
                  ><span class="verb">${method}</span> <code>/v1${at}</code
                  ><span class="only-read">: ${t(summary)}</span></a
                >
              </li>`,
          )}
        </ul>
      </nav>
      ${isForOperators && operatorsNote()}
      ${operations.map((operation) => operationArticle(operation, facts))}`,
  }
}

const operatorsNote = () =>
  html`<p class="small muted">
    Operações de quem opera o serviço. Elas só valem numa sessão do painel com a verificação em duas
    etapas; as leituras, também com a chave operator de quem opera.
  </p>`

function referenceGroups(resources: readonly ReferenceResource[]): readonly DocGroup[] {
  const group = (title: string, isForOperators: boolean): DocGroup => ({
    title,
    links: resources.filter((resource) => resource.isForOperators === isForOperators),
  })
  return [group('Referência da API', false), group('Operação do serviço', true)].filter(
    ({ links }) => links.length > 0,
  )
}

export interface Docs {
  readonly operations: readonly Operation[]
  readonly resources: readonly ReferenceResource[]
  readonly groups: readonly DocGroup[]
  /** In the order of the contents. */
  readonly pages: ReadonlyMap<string, (facts: GuideFacts) => DocPage>
}

export function createDocs(document: ApiDocument): Docs {
  const operations = listOperations(document)
  const resources = resourcesOfReference(operations)
  const groups = [...GUIDE_GROUPS, ...referenceGroups(resources)]
  const pages = new Map<string, (facts: GuideFacts) => DocPage>([
    ['/docs', (facts) => homePage(groups, facts)],
    [ERRORS_LINK.path, (facts) => errorsPage(operations, facts)],
  ])
  for (const guide of GUIDES) {
    const path = guidePath(guide)
    pages.set(path, (facts) => ({
      path,
      title: t(guide.title),
      description: t(guide.description),
      sections: guide.sections(facts),
    }))
  }
  for (const resource of resources)
    pages.set(resource.path, (facts) => referencePage(resource, facts))
  return { operations, resources, groups, pages }
}

export function guideFacts(models: readonly Model[], origin: string): GuideFacts {
  return { origin, models: exampleModels(models) }
}

/** Models that can be called, those that people know first; the catalog decides what there is. */
function exampleModels(models: readonly Model[]): ExampleModels {
  const offered = models.filter(({ routes }) => routes.length > 0)
  const chats = offered.filter(
    ({ category, supportsTools, imageTokensMax }) =>
      category === 'llm' && supportsTools && imageTokensMax > 0,
  )
  const chat = preferred(chats, ['gpt-5-mini', 'gpt-4o-mini']) ?? t('MODELO')
  return {
    chat,
    claude: preferred(chats, ['claude-sonnet-5'], /^claude.*sonnet/) ?? chat,
    claudeSmall: preferred(chats, ['claude-haiku-4-5'], /^claude.*haiku/) ?? chat,
    embedding: preferred(of(offered, 'embeddings'), ['text-embedding-3-small']) ?? t('MODELO'),
    rerank: preferred(of(offered, 'rerank'), []) ?? t('MODELO'),
    moderation: preferred(of(offered, 'moderations'), ['omni-moderation-latest']) ?? t('MODELO'),
    image: preferred(of(offered, 'images'), ['gpt-image-1']) ?? t('MODELO'),
    speech: preferred(of(offered, 'speech'), []) ?? t('MODELO'),
    video: preferred(of(offered, 'videos'), []) ?? t('MODELO'),
    audio:
      preferred(
        of(offered, 'transcriptions').filter(({ audio }) => audio?.hasTimestamps),
        ['whisper-1'],
      ) ?? t('MODELO'),
  }
}

function of(models: readonly Model[], operation: ModelOperation): readonly Model[] {
  return models.filter((model) => operationOf(model) === operation)
}

function preferred(
  models: readonly Model[],
  ids: readonly string[],
  pattern?: RegExp,
): string | undefined {
  const real = models.filter(({ vendor }) => vendor !== 'sandbox')
  const known = ids.find((id) => real.some((model) => model.id === id))
  if (known !== undefined) return known
  if (pattern) return real.find(({ id }) => pattern.test(id))?.id
  return (real[0] ?? models[0])?.id
}

/** `/docs`: where to begin, and everything there is. */
function homePage(groups: readonly DocGroup[], { origin, models }: GuideFacts): DocPage {
  const use = { origin, secret: PLACE_OF_SECRET, model: models.chat }
  return {
    path: '/docs',
    title: t('Documentação para desenvolvedores'),
    description: t(
      'Guias com código que roda, e a referência de cada operação da API, com o que ela custa e exige.',
    ),
    sections: [],
    content: html`<p>
        Endereço base: <code>${origin}/v1</code>. Autenticação: o cabeçalho
        <code>Authorization: Bearer</code> com uma chave do painel. Para programas, a descrição da
        API em OpenAPI 3.1: <a href="/v1/openapi.json"><code>/v1/openapi.json</code></a
        >.
      </p>
      ${sampleTabs('primeira chamada', chatSamples(use))}
      <div class="acts">
        <a class="button" href="/docs/primeira-chamada">Fazer a primeira chamada</a
        ><a class="button plain" href="/docs/referencia/chamadas-de-modelos">Abrir a referência</a>
      </div>
      ${groups.map(
        ({ title, links }) =>
          html`<section>
            <h2>${t(title)}</h2>
            <dl class="fields-of list">
              ${links.map(
                (link) =>
                  html`<div>
                    <dt><a href="${link.path}">${t(link.title)}</a></dt>
                    <dd class="muted">${t(link.description)}</dd>
                  </div>`,
              )}
            </dl>
          </section>`,
      )}`,
  }
}

/** Returns the pages that search engines list: all but those of the operators. */
export function listDocPaths(document: object): readonly string[] {
  const { pages, resources } = createDocs(document)
  const hidden = new Set(
    resources.filter(({ isForOperators }) => isForOperators).map(({ path }) => path),
  )
  return [...pages.keys()].filter((path) => !hidden.has(path))
}
