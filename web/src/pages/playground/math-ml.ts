/**
 * Draws a formula as MathML, which screen readers read. Its TeX is hostile: it may neither define macros nor name
 * addresses, and only the elements and attributes below leave this file, as elements of React and never as HTML.
 */
import { createElement, Fragment, type ReactNode } from 'react'
import temml, { type Options } from 'temml'

const OPTIONS: Options = {
  throwOnError: true,
  trust: false,
  strict: false,
  // In `em` and points.
  maxSize: [10, 100],
  maxExpand: 1_000,
}

/** Macros that grow when they are used could fill the memory within a thousand steps. */
const DEFINES =
  /\\(?:[egx]?def|let|futurelet|global|long|(?:re)?newcommand|providecommand)(?![A-Za-z])/
const DEPTH_MAX = 100

const ELEMENTS = new Set(
  'math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none'.split(
    ' ',
  ),
)
const ATTRIBUTES = new Set(
  'accent depth display displaystyle fence form height largeop linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits rspace scriptlevel separator stretchy symmetric voffset width'.split(
    ' ',
  ),
)

/** Of the library's tree. */
interface Drawn {
  readonly text?: string
  readonly type?: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly classes?: readonly string[]
  readonly style?: Readonly<Record<string, string>>
  readonly children?: readonly Drawn[]
}

/** The types of the library have it under this name for bundlers only. */
const { __renderToMathMLTree } = temml as unknown as {
  readonly __renderToMathMLTree: (tex: string, options: Options) => Drawn
}

/** Undefined if the text is no formula, or one that is not drawn. */
export function mathMlOf(tex: string, isBlock: boolean): ReactNode {
  if (DEFINES.test(tex)) return undefined
  try {
    const options = { ...OPTIONS, displayMode: isBlock }
    return elementOf(__renderToMathMLTree(tex, options), 0)
  } catch {
    return undefined
  }
}

function elementOf({ text, type, children = [], ...drawn }: Drawn, depth: number): ReactNode {
  if (text !== undefined) return text
  if (depth > DEPTH_MAX) throw new RangeError('the formula is too deep')
  const inner = children.map((child) => elementOf(child, depth + 1))
  // A part without an element of its own.
  if (type === undefined) return createElement(Fragment, undefined, ...inner)
  if (!ELEMENTS.has(type)) throw new TypeError(`a formula has no <${type}>`)
  const { attributes = {}, classes = [], style = {} } = drawn
  const kept = Object.entries(attributes).filter(([name]) => ATTRIBUTES.has(name))
  const className = classes.filter(Boolean).join(' ')
  return createElement(
    type,
    {
      ...Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
      ...(className && { className }),
      style: styleOf(style),
    },
    ...inner,
  )
}

/** React sets each property for itself, which the content security policy allows. It knows them without hyphens. */
function styleOf(style: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const set = Object.entries(style).map(([name, value]) => [
    name.replaceAll(/-(.)/g, (_hyphen, letter: string) => letter.toUpperCase()),
    value,
  ])
  return set.length > 0 ? Object.fromEntries(set) : undefined
}
