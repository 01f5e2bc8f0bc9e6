/** All pages of the documentation, by their paths. A page is written when it is first asked for. */
import type { Model } from '../../money/catalog/model.ts'
import { listOperations, type ApiDocument, type Operation } from './api-document.ts'
import { guidePath, type DocGroup, type DocPage, type GuideFacts } from './doc-page.ts'
import { ERRORS_LINK, errorsPage } from './errors-page.ts'
import { exampleModels } from './example-models.ts'
import { homePage } from './home-page.ts'
import { GUIDE_GROUPS, GUIDES } from './list-guides.ts'
import { referenceGroups, referencePage } from './reference-pages.ts'
import { resourcesOfReference, type ReferenceResource } from './resources-of-reference.ts'

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
    const { title, description } = guide
    const path = guidePath(guide)
    pages.set(path, (facts) => ({ path, title, description, sections: guide.sections(facts) }))
  }
  for (const resource of resources)
    pages.set(resource.path, (facts) => referencePage(resource, facts))
  return { operations, resources, groups, pages }
}

export function guideFacts(models: readonly Model[], origin: string): GuideFacts {
  return { origin, models: exampleModels(models) }
}
