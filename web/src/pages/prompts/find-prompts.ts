import type { Prompt } from './prompt-queries.ts'
import { language } from '../../language/language.ts'

interface Wanted {
  readonly text: string
  /** `''`: any tag. */
  readonly tag: string
}

/**
 * The loaded prompts whose name, description or tags contain every word, followed by those that only the API
 * found.
 */
export function findPrompts(
  loaded: readonly Prompt[],
  others: readonly Prompt[],
  { text, tag }: Wanted,
): Prompt[] {
  const words = plain(text).split(/\s+/)
  const found = loaded.filter(
    ({ name, description, tags }) =>
      (tag === '' || tags.includes(tag)) &&
      words.every((word) => plain(`${name} ${description ?? ''} ${tags.join(' ')}`).includes(word)),
  )
  const ids = new Set(found.map(({ id }) => id))
  return [...found, ...others.filter(({ id }) => !ids.has(id))]
}

/** All tags without repetitions, in alphabetical order. */
export function tagsOf(prompts: readonly Prompt[]): string[] {
  const tags = new Set(prompts.flatMap((prompt) => prompt.tags))
  return [...tags].toSorted((left, right) => left.localeCompare(right, language()))
}

/** In lower case and without accents, as the API compares. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .toLowerCase()
}
