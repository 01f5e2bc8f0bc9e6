/**
 * The formulas of an answer: `$$…$$`, `\[…\]`, `\(…\)`, and `$…$` where it cannot be an amount of money. They are taken out
 * before the Markdown is parsed, whose marks TeX uses otherwise, and put back into the parsed tree. A formula that has not
 * ended stays text.
 */

export interface Formula {
  /** As it is written in the answer. */
  readonly source: string
  readonly tex: string
  readonly isBlock: boolean
}

interface TakenFormulas {
  readonly text: string
  readonly formulas: readonly Formula[]
}

/** Stand for a formula in the Markdown, around its place in the list; a letter to its parser. */
const [BEGIN, END] = ['\uE000', '\uE001']
const PLACE = /\uE000(\d+)\uE001/g

/** Code and escaped characters first, in which nothing is a formula. */
const PARTS = new RegExp(
  [
    '(?<!`)(?<ticks>`+)(?!`)[^]*?(?<!`)\\k<ticks>(?!`)',
    '`+',
    '\\\\\\[(?<bracketed>[^]{1,4000}?)\\\\\\]',
    '\\\\\\((?<rounded>[^]{1,4000}?)\\\\\\)',
    '\\$\\$(?<doubled>[^]{1,4000}?)\\$\\$',
    // Not "R$ 5", and no amount or name begins at its end.
    '(?<![\\p{L}\\p{N}$])\\$(?<single>[^\\s$](?:[^$\\n]{0,300}[^\\s$\\\\])?)\\$(?![\\p{L}\\p{N}$]|\\s?\\d)',
    '\\\\[^]',
  ].join('|'),
  'gu',
)

/** Each formula is drawn, of which a hostile answer could have a hundred thousand. */
const MARKS_MAX = 4_000

/** How many of the first texts may have formulas. */
export function countTextsToRead(texts: readonly string[]): number {
  let left = MARKS_MAX
  const end = texts.findIndex((text) => {
    left -= text.match(/\$|\\[([]/g)?.length ?? 0
    return left < 0
  })
  return end === -1 ? texts.length : end
}

export function takeFormulas(text: string): TakenFormulas {
  const formulas: Formula[] = []
  if (!/\$|\\[([]/.test(text) || text.includes(BEGIN)) return { text, formulas }
  const shortened = text.replace(PARTS, (source: string, ...found: unknown[]) => {
    const { bracketed, rounded, doubled, single } = found.at(-1) as Record<string, string>
    const tex = bracketed ?? rounded ?? doubled ?? single
    if (tex === undefined || !isTex(tex) || (single !== undefined && !isSurely(single)))
      return source
    const isBlock = bracketed !== undefined || doubled !== undefined
    formulas.push({ source, tex, isBlock })
    return `${BEGIN}${formulas.length - 1}${END}`
  })
  return { text: shortened, formulas }
}

/** An empty line ends a formula in TeX, too; the signs of a quote would be read as comparisons. */
function isTex(tex: string): boolean {
  return tex.trim() !== '' && !/\n[ \t]*(\n|>)/.test(tex)
}

const COMMAND = /\\(?:text|textbf|textit|mathrm|mathbf|operatorname)\*?\{[^{}]*\}|\\[A-Za-z]+/g
const WORD = /\p{L}{3}|^[\d.,]+\S*\s(?:e|a|o|ou|or|to|vs|at|in)\s/u

/** Whether what stands between two single dollar signs is a formula, and not amounts: "$5 and $10", "$1 = R$ 5". */
function isSurely(tex: string): boolean {
  if (WORD.test(tex.replaceAll(COMMAND, ' ')) || /(?<![\p{L}\\])(?:R|US)$/u.test(tex)) return false
  if (/^\d/.test(tex)) return /[\\^_=<>]|^\d+\p{L}/u.test(tex)
  return /[\\^_=<>+*/|-]|^\p{L}(?:'*|\(.*\))$/u.test(tex)
}

/** What is touched of a node of Markdown. */
interface Node {
  readonly type: string
  readonly value?: string
  /** Makes an element of it, with these properties. */
  readonly data?: { readonly hName: string; readonly hProperties: object }
  children?: Node[] | undefined
}

/** The texts of a node that no formula is shown in. */
const FIELDS = ['value', 'url', 'title', 'alt', 'label', 'identifier'] as const

/** Makes elements `formula` of the formulas in the texts of a tree. */
export function putFormulas({ formulas }: TakenFormulas): () => (tree: object) => void {
  const restored = (text: string): string =>
    text.replaceAll(PLACE, (_place, index: string) => formulas[Number(index)]?.source ?? '')
  const walk = (node: Node): void => {
    for (const field of FIELDS) restore(node, field)
    node.children = node.children?.flatMap((child) => {
      if (child.type === 'text') return partsOf(child.value ?? '', formulas)
      walk(child)
      return [child]
    })
  }
  const restore = (node: object, field: (typeof FIELDS)[number]): void => {
    const text: unknown = Reflect.get(node, field)
    if (typeof text === 'string') Reflect.set(node, field, restored(text))
  }
  return () => (tree) => {
    if (formulas.length > 0) walk(tree as Node)
  }
}

/** The texts between the formulas, and the formulas. */
function partsOf(text: string, formulas: readonly Formula[]): Node[] {
  return text.split(PLACE).flatMap((part, place): Node[] => {
    if (place % 2 === 0) return part === '' ? [] : [{ type: 'text', value: part }]
    const formula = formulas[Number(part)]
    return formula ? [elementOf(formula)] : []
  })
}

function elementOf(formula: Formula): Node {
  return { type: 'formula', data: { hName: 'formula', hProperties: { ...formula } } }
}
