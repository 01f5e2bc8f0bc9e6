/**
 * The placeholders of saved prompts, with the rules of src/customers/prompts/placeholders.ts. That file counts bytes with
 * an API that only Node.js has; test/web/placeholders.test.ts keeps the two consistent.
 */
const PLACEHOLDER = /\{\{ *([a-zA-Z0-9_]{1,40}) *\}\}/g
/** Text in braces that may be a mistyped placeholder. */
const BRACES = /\{\{([^{}\n]{0,80})\}\}/g

export const VARIABLES_MAX = 100

export interface PromptPart {
  readonly kind: 'text' | 'variable' | 'not_a_variable'
  /** The original text, including braces. */
  readonly text: string
  /** The name of the variable. */
  readonly name: string
}

/** The names in a body, without repetitions, in order of first appearance. */
export function findPlaceholders(body: string): string[] {
  return [...new Set(Array.from(body.matchAll(PLACEHOLDER), ([, name]) => name as string))]
}

/** Splits the body into parts; joined, they are the body. */
export function promptParts(body: string): PromptPart[] {
  const parts: PromptPart[] = []
  let end = 0
  const addText = (text: string): void => {
    let from = 0
    for (const { 0: found, index } of text.matchAll(BRACES)) {
      if (index > from) parts.push({ kind: 'text', text: text.slice(from, index), name: '' })
      parts.push({ kind: 'not_a_variable', text: found, name: '' })
      from = index + found.length
    }
    if (from < text.length) parts.push({ kind: 'text', text: text.slice(from), name: '' })
  }
  for (const { 0: found, 1: name = '', index } of body.matchAll(PLACEHOLDER)) {
    addText(body.slice(end, index))
    parts.push({ kind: 'variable', text: found, name })
    end = index + found.length
  }
  addText(body.slice(end))
  return parts
}
