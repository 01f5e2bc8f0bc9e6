/**
 * The placeholders of saved prompts, as src/prompts/placeholders.ts reads them; the server's file counts
 * bytes with what only Node has. test/web/placeholders.test.ts holds the two together.
 */
const PLACEHOLDER = /\{\{ *([a-zA-Z0-9_]{1,40}) *\}\}/g
/** Whatever else somebody may have meant to be one. */
const BRACES = /\{\{([^{}\n]{0,80})\}\}/g

export const VARIABLES_MAX = 100

export interface PromptPart {
  readonly kind: 'text' | 'variable' | 'not_a_variable'
  /** As written, with its braces. */
  readonly text: string
  /** The name, of a variable. */
  readonly name: string
}

/** The names in a body, each once, in the order of their first place. */
export function findPlaceholders(body: string): string[] {
  return [...new Set(Array.from(body.matchAll(PLACEHOLDER), ([, name]) => name as string))]
}

/** The body in its parts; together they are the body. */
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
