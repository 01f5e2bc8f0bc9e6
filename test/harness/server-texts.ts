/** The texts for people in the source of the server: what `t` and `html` are given, and what looks like a text beside that. */
import { parseSync } from 'rolldown/utils'
import { textKey } from '../../src/platform/lib/language.ts'
import { translateMarkup } from '../../src/platform/lib/translate-markup.ts'
import { readSources } from './read-sources.ts'

interface SourceNode {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

export interface ServerTexts {
  /** The keys of the catalogue, each with its file. */
  readonly texts: ReadonlyMap<string, string>
  /** Literals that look like a text and that `t` does not get by itself. */
  readonly others: ReadonlyMap<string, string>
  /** Every literal, also the words that look like a name of the code. */
  readonly literals: ReadonlySet<string>
  /** The keys of templates of `html`. */
  readonly markup: ReadonlyMap<string, string>
}

export function readServerTexts(...patterns: string[]): ServerTexts {
  const texts = new Map<string, string>()
  const others = new Map<string, string>()
  const literals = new Set<string>()
  const markup = new Map<string, string>()
  for (const { file, text: code } of readSources(...patterns)) {
    const { program, errors } = parseSync(file, code)
    if (errors[0]) throw new Error(`${file}: ${errors[0].message}`)
    const given = new Set<unknown>()
    const isMarkup = new Set<unknown>()
    visit(program as unknown as SourceNode, (node) => {
      const text = givenText(node)
      if (text) given.add(text)
      const page = givenMarkup(node)
      if (page) {
        isMarkup.add(page)
        translateMarkup(partsOf(page), (found) => void markup.set(found, file))
        return
      }
      const key = keyOf(node)
      if (key === undefined) return
      literals.add(key)
      if (isMarkup.has(node)) return
      if (given.has(node)) texts.set(key, file)
      else if (looksLikeText(key)) others.set(key, file)
    })
  }
  return { texts, others, literals, markup }
}

function givenMarkup(node: SourceNode): SourceNode | undefined {
  if (node.type !== 'TaggedTemplateExpression' || (node.tag as SourceNode).name !== 'html')
    return undefined
  return node.quasi as SourceNode
}

function partsOf(template: SourceNode): string[] {
  return (template.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked)
}

/** The literal that this node gives to `t`. */
function givenText(node: SourceNode): unknown {
  if (node.type === 'TaggedTemplateExpression' && (node.tag as SourceNode).name === 't')
    return node.quasi
  if (node.type === 'CallExpression' && (node.callee as SourceNode).name === 't')
    return (node.arguments as SourceNode[])[0]
  return undefined
}

function keyOf(node: SourceNode): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type !== 'TemplateLiteral') return undefined
  return textKey(partsOf(node))
}

/** Words that begin with a capital, or several words; no markup, style, address or name. */
function looksLikeText(key: string): boolean {
  if (/[<>]|^[\w-]+:[^ ]|^\.{0,2}\/|px\b|List-Unsubscribe/.test(key)) return false
  return /\p{L}{2}/u.test(key) && /^\p{Lu}|\s|[^\x20-\x7f]/u.test(key.trim())
}

function visit(node: SourceNode, see: (node: SourceNode) => void): void {
  if (node.type === 'ImportDeclaration') return
  see(node)
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const each of value) if (isNode(each)) visit(each, see)
    if (isNode(value)) visit(value, see)
  }
}

function isNode(value: unknown): value is SourceNode {
  return typeof (value as SourceNode | null | undefined)?.type === 'string'
}
