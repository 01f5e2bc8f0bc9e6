import { createDocs } from './write-doc-pages.ts'

/** Returns the pages that search engines list: all but those of the operators. */
export function listDocPaths(document: object): readonly string[] {
  const { pages, resources } = createDocs(document)
  const hidden = new Set(
    resources.filter(({ isForOperators }) => isForOperators).map(({ path }) => path),
  )
  return [...pages.keys()].filter((path) => !hidden.has(path))
}
