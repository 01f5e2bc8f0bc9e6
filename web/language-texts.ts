/**
 * The texts of the dashboard, read from its source: what `t` and `Trans` are called with, and the texts that bypass them.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'

const SOURCE = join(import.meta.dirname, './src')

interface SourceNode {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

export interface SourceText {
  readonly text: string
  /** With values it is an ICU message. */
  readonly hasValues: boolean
  /** File and line. */
  readonly place: string
}

export interface DashboardTexts {
  readonly texts: readonly SourceText[]
  /** What people would read in Portuguese only. */
  readonly unwrapped: readonly string[]
  /** Calls whose text is no literal: it cannot be extracted. */
  readonly unreadable: readonly string[]
}

/** Attributes that people read or hear. */
const READ_ATTRIBUTES = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-roledescription',
  'aria-valuetext',
  'caption',
  'confirmText',
  'description',
  'emptyText',
  'header',
  'hint',
  'label',
  'legend',
  'nameHeader',
  'placeholder',
  'spoken',
  'submitLabel',
  'summary',
  'term',
  'text',
  'title',
])

export function readDashboardTexts(): DashboardTexts {
  const texts: SourceText[] = []
  const unwrapped: string[] = []
  const unreadable: string[] = []
  for (const file of globSync('**/*.{ts,tsx}', { cwd: SOURCE }).toSorted()) {
    const code = readFileSync(join(SOURCE, file), 'utf8')
    const { program, errors } = parseSync(file, code)
    if (errors[0]) throw new Error(`${file}: ${errors[0].message}`)
    const lines = Array.from(code.matchAll(/\n/g), ({ index }) => index)
    const placeOf = ({ start }: SourceNode): string =>
      `web/src/${file}:${lines.filter((end) => end < start).length + 1}`
    visit(program as unknown as SourceNode, (node) => {
      const use = useOf(node)
      if (use && !file.startsWith('language/')) {
        if (use.text === undefined) unreadable.push(placeOf(node))
        else texts.push({ text: use.text, hasValues: use.hasValues, place: placeOf(node) })
      }
      for (const bypassed of bypassesOf(node)) unwrapped.push(`${placeOf(node)} ${bypassed}`)
    })
  }
  return { texts, unwrapped, unreadable }
}

/** A call of `t` or an element `Trans`. */
function useOf(node: SourceNode): { text: string | undefined; hasValues: boolean } | undefined {
  if (node.type === 'CallExpression' && (node.callee as SourceNode).name === 't') {
    const [given, values, context] = node.arguments as SourceNode[]
    const text = textOf(given)
    return {
      text: text !== undefined && context ? `${text} (${textOf(context)})` : text,
      hasValues: values?.type === 'ObjectExpression',
    }
  }
  if (node.type === 'JSXOpeningElement' && (node.name as SourceNode).name === 'Trans') {
    const id = (node.attributes as SourceNode[]).find(
      (attribute) => (attribute.name as SourceNode | undefined)?.name === 'id',
    )
    return { text: textOf(id?.value as SourceNode | undefined), hasValues: true }
  }
  return undefined
}

function textOf(node: SourceNode | undefined): string | undefined {
  if (node?.type === 'JSXExpressionContainer') return textOf(node.expression as SourceNode)
  if (node?.type !== 'Literal' || typeof node.value !== 'string') return undefined
  return node.value.replaceAll('&nbsp;', '\u00a0')
}

/** The texts of JSX, or of an attribute that people read, that are literals: also those that an expression chooses, and nouns that are counted. */
function bypassesOf(node: SourceNode): string[] {
  if (node.type === 'JSXText') return [String(node.value).trim()].filter(isText)
  if (node.type === 'JSXElement' || node.type === 'JSXFragment')
    return (node.children as SourceNode[])
      .filter(({ type }) => type === 'JSXExpressionContainer')
      .flatMap(({ expression }) => chosenOf(expression as SourceNode))
      .filter(isText)
  if (node.type === 'CallExpression' && (node.callee as SourceNode).name === 'counted')
    return (node.arguments as SourceNode[]).flatMap(chosenOf).filter(isText)
  if (node.type !== 'JSXAttribute') return []
  const name = String((node.name as SourceNode).name)
  const value = node.value as SourceNode | null
  if (!READ_ATTRIBUTES.has(name) || !value) return []
  return chosenOf(value)
    .filter(isText)
    .map((text) => `${name}="${text}"`)
}

/** The literals that an expression can result in, and the fixed parts of a template. */
function chosenOf(node: SourceNode): string[] {
  const of = (...fields: string[]): string[] =>
    fields.flatMap((field) => chosenOf(node[field] as SourceNode))
  if (node.type === 'JSXExpressionContainer') return of('expression')
  if (node.type === 'ConditionalExpression') return of('consequent', 'alternate')
  if (node.type === 'LogicalExpression') return of('left', 'right')
  if (node.type === 'TemplateLiteral')
    return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked.trim())
  return node.type === 'Literal' && typeof node.value === 'string' ? [node.value] : []
}

/** Names, units and code are the same in every language. */
const SAME =
  /^(?:R\$|US\$|HTTP|Catraca|Pix|ms|tokens?|CVV|CNPJ|CPF|SMTP|Tokens\/s|Python|curl|sk-svc-…|[\d\W]+)$/u

function isText(value: string): boolean {
  return /\p{L}{2}/u.test(value) && !SAME.test(value.trim())
}

function visit(node: SourceNode, see: (node: SourceNode) => void): void {
  see(node)
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const each of value) if (isNode(each)) visit(each, see)
    if (isNode(value)) visit(value, see)
  }
}

function isNode(value: unknown): value is SourceNode {
  return typeof (value as SourceNode | null | undefined)?.type === 'string'
}
