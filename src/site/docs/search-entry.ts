/** One line of the search index, as the page's script reads it. */
export interface SearchEntry {
  readonly title: string
  /** What the entry is a part of. */
  readonly within: string
  readonly path: string
  /** Without accents and in lower case, each once. */
  readonly words: string
}
