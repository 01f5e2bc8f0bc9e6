/**
 * Cuts an answer into blocks of Markdown that are rendered one by one, so that finished ones are not parsed again
 * while more text arrives.
 */
export interface MarkdownBlock {
  /** `plain` is shown as it is: text too long to be parsed. */
  readonly kind: 'markdown' | 'plain'
  readonly text: string
}

/** Text without an empty line; some patterns cost the parser time that grows with the square of the length. */
const TEXT_LENGTH_MAX = 20_000
const CODE_LENGTH_MAX = 200_000
/** Plain text is cut at this length, by lines. */
const PLAIN_LENGTH = 4_000
const FENCE = /^\s*(`{3,}|~{3,})([^`]*)$/
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:\s*\S/

/**
 * A block ends at an empty line before a line that begins at the margin, except between items of a list. An unclosed
 * fence extends to the end, as during streaming.
 */
export function blocksOf(text: string): readonly MarkdownBlock[] {
  const blocks: string[] = []
  const definitions: string[] = []
  let lines: string[] = []
  let fence: string | undefined
  let isAfterEmpty = false
  for (const line of text.split('\n')) {
    const isList = LIST_ITEM.test(lines[0] ?? '') && LIST_ITEM.test(line)
    if (fence === undefined && isAfterEmpty && /^\S/.test(line) && !isList) {
      blocks.push(lines.join('\n'))
      lines = []
    }
    const [, marks = '', info = ''] = FENCE.exec(line) ?? []
    if (fence === undefined) {
      if (marks !== '') fence = marks
      else if (DEFINITION.test(line)) definitions.push(line)
    } else if (info.trim() === '' && marks.startsWith(fence)) fence = undefined
    isAfterEmpty = line.trim() === ''
    if (!isAfterEmpty || lines.length > 0) lines.push(line)
  }
  blocks.push(lines.join('\n'))
  return blocks
    .filter((block) => block.trim() !== '')
    .flatMap((block) => bounded(block, definitions.join('\n')))
}

function bounded(block: string, definitions: string): readonly MarkdownBlock[] {
  const lengthMax = FENCE.test(block.split('\n', 1)[0] ?? '') ? CODE_LENGTH_MAX : TEXT_LENGTH_MAX
  if (block.length > lengthMax) return plainParts(block)
  // A link may be defined in another block.
  const text = definitions !== '' && block.includes('[') ? `${block}\n\n${definitions}` : block
  return [{ kind: 'markdown', text }]
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
