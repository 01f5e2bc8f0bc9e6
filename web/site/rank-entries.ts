import type { SearchEntry } from '../../src/site/docs/doc-routes.ts'

/** The entries in which each typed word begins a word, those with the words in their titles first. */
export function searchEntries(
  entries: readonly SearchEntry[],
  typed: string,
): readonly SearchEntry[] {
  const words = splitWords(typed)
  if (words.length === 0) return []
  return entries
    .filter((entry) => words.every((word) => hasWord(entry.words, word)))
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ entry }) => entry)
}

/** As `wordsOf` of `src/site/docs/doc-routes.ts` writes them. */
function splitWords(text: string): readonly string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.match(/[a-z0-9_-]{2,}/g) ?? []
}

function hasWord(words: string, start: string): boolean {
  return ` ${words}`.includes(` ${start}`)
}

/** Whole words count more than beginnings, and titles more than texts. */
function rankOf({ title, words }: SearchEntry, typed: readonly string[]): number {
  const inTitle = splitWords(title).join(' ')
  return typed.reduce((sum, word) => {
    const isWhole = ` ${words} `.includes(` ${word} `)
    return sum + (hasWord(inTitle, word) ? 4 : 0) + (isWhole ? 1 : 0)
  }, 0)
}
