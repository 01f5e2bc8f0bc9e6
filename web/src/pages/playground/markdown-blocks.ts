/**
 * Cuts an answer into blocks of Markdown that are rendered one by one, so that finished ones are not parsed again
 * while more text arrives. An answer is hostile: what would cost the parser or the page too much is shown as it is.
 */
import { isCostly } from './costly-markdown.ts'

export interface MarkdownBlock {
  /** `plain` is shown as it is: text that costs too much to be parsed. */
  readonly kind: 'markdown' | 'plain'
  readonly text: string
}

/** What is rendered of an answer as Markdown: each block is parsed, and becomes elements, for itself. */
const MARKDOWN_LENGTH_MAX = 300_000
const BLOCKS_MAX = 2_000
/** Text without an empty line; some patterns cost the parser time that grows with the square of the length. */
const TEXT_LENGTH_MAX = 20_000
const CODE_LENGTH_MAX = 200_000
/** All definitions that are repeated for the blocks that refer to them. */
const DEFINITIONS_LENGTH_MAX = 50_000
/** Plain text is cut at this length, by lines. */
const PLAIN_LENGTH = 4_000
const FENCE = /^\s*(`{3,}|~{3,})([^`]*)$/
/** With more spaces it is a paragraph for the parser, whose length costs more. */
const CODE_BEGINS = /^ {0,3}(?:`{3,}[^`]*|~{3,}[^`]*)$/
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/
const DEFINITION = /^ {0,3}\[([^\]\n]+)\]:\s*\S/
const REFERENCE = /\[([^[\]\n]{1,200})\]/g

type Definitions = ReadonlyMap<string, string>

export function blocksOf(text: string): readonly MarkdownBlock[] {
  const isLong = text.length > MARKDOWN_LENGTH_MAX
  const rendered = isLong ? text.slice(0, text.lastIndexOf('\n', MARKDOWN_LENGTH_MAX) + 1) : text
  const { blocks, definitions } = cut(rendered)
  const define = definer(definitions)
  return [
    ...blocks.slice(0, BLOCKS_MAX).flatMap((block) => bounded(block, define)),
    ...plainParts(blocks.slice(BLOCKS_MAX).join('\n')),
    ...plainParts(text.slice(rendered.length)),
  ]
}

/**
 * A block ends at an empty line before a line that begins at the margin, except between items of a list, and after
 * the code with which it begins. An unclosed fence extends to the end, as during streaming.
 */
function cut(text: string): { blocks: readonly string[]; definitions: Definitions } {
  const blocks: string[] = []
  const definitions = new Map<string, string>()
  let lines: string[] = []
  let fence: string | undefined
  let isAfterEmpty = false
  const end = (): void => {
    const block = lines.join('\n')
    if (block.trim() !== '') blocks.push(block)
    lines = []
  }
  for (const line of text.split('\n')) {
    const isList = LIST_ITEM.test(lines[0] ?? '') && LIST_ITEM.test(line)
    if (fence === undefined && isAfterEmpty && /^\S/.test(line) && !isList) end()
    const [, marks = '', info = ''] = FENCE.exec(line) ?? []
    const isClosing = fence !== undefined && info.trim() === '' && marks.startsWith(fence)
    if (fence === undefined) {
      if (marks !== '') fence = marks
      else define(definitions, line)
    } else if (isClosing) fence = undefined
    isAfterEmpty = line.trim() === ''
    if (!isAfterEmpty || lines.length > 0) lines.push(line)
    // Or the text after it would pass for a part of the code.
    if (isClosing && CODE_BEGINS.test(lines[0] ?? '')) end()
  }
  end()
  return { blocks, definitions }
}

function define(definitions: Map<string, string>, line: string): void {
  const label = DEFINITION.exec(line)?.[1]
  // The first one counts.
  if (label !== undefined && !definitions.has(labelOf(label))) definitions.set(labelOf(label), line)
}

function labelOf(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').toLowerCase()
}

/** A link may be defined in another block: adds the definitions that a block refers to and lacks. */
function definer(definitions: Definitions): (block: string) => string {
  let left = DEFINITIONS_LENGTH_MAX
  return (block) => {
    if (definitions.size === 0 || !block.includes('[')) return block
    const lines = new Set<string>()
    for (const [, label = ''] of block.matchAll(REFERENCE)) {
      const line = definitions.get(labelOf(label))
      if (line === undefined || lines.has(line) || line.length > left || block.includes(line))
        continue
      lines.add(line)
      left -= line.length
    }
    return lines.size === 0 ? block : `${block}\n\n${[...lines].join('\n')}`
  }
}

function bounded(block: string, define: (block: string) => string): readonly MarkdownBlock[] {
  const isCode = CODE_BEGINS.test(block.split('\n', 1)[0] ?? '')
  const lengthMax = isCode ? CODE_LENGTH_MAX : TEXT_LENGTH_MAX
  if (block.length > lengthMax || (!isCode && isCostly(block))) return plainParts(block)
  return [{ kind: 'markdown', text: isCode ? block : define(block) }]
}

function plainParts(block: string): readonly MarkdownBlock[] {
  const parts: MarkdownBlock[] = []
  let part = ''
  for (const line of block.split('\n')) {
    part = part === '' ? line : `${part}\n${line}`
    if (part.length < PLAIN_LENGTH) continue
    parts.push({ kind: 'plain', text: part })
    part = ''
  }
  if (part !== '') parts.push({ kind: 'plain', text: part })
  return parts
}
