/** The subset of Markdown that answers are rendered with: fenced code, inline code, bold, headings. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly code: string }

export interface Piece {
  readonly kind: 'text' | 'code' | 'bold'
  readonly text: string
}

/**
 * A text without empty lines is cut at this length, so that its rendered part is not rendered again while more
 * arrives.
 */
const BLOCK_LENGTH_MAX = 4_000
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
/** Bold text has no space at its edges, unlike `2 ** 3 ** 4`. */
const INLINE = /(`+)(?!`)(.+?)(?<!`)\1(?!`)|\*\*(?=\S)(.+?)(?<=\S)\*\*|^#{1,6} +(.+)$/gm

/** The blocks in order. An unclosed fence extends to the end, as during streaming. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let length = 0
  let open: { fence: string; language: string } | undefined
  const endText = (): void => {
    const joined = lines.join('\n').replace(/^\n+|\s+$/g, '')
    if (joined !== '') blocks.push({ kind: 'text', text: joined })
    lines = []
    length = 0
  }
  const endCode = ({ language }: { language: string }): void => {
    blocks.push({ kind: 'code', language, code: lines.join('\n') })
    lines = []
    open = undefined
  }
  for (const line of text.split('\n')) {
    const [, fence = '', info = ''] = FENCE.exec(line) ?? []
    if (open) {
      if (info.trim() === '' && fence.startsWith(open.fence)) endCode(open)
      else lines.push(line)
    } else if (fence === '') {
      // Each paragraph is a block, so that finished ones are not rendered again while the next one arrives.
      if (line.trim() === '') {
        endText()
        continue
      }
      lines.push(line)
      length += line.length
      if (length > BLOCK_LENGTH_MAX) endText()
    } else {
      endText()
      open = { fence, language: info.trim().split(/\s/, 1)[0] ?? '' }
    }
  }
  if (open) endCode(open)
  else endText()
  return blocks
}

export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const found of text.matchAll(INLINE)) {
    const [whole, , code, bold, heading] = found
    if (found.index > end) pieces.push({ kind: 'text', text: text.slice(end, found.index) })
    if (code !== undefined) pieces.push({ kind: 'code', text: code })
    else pieces.push({ kind: 'bold', text: (bold ?? heading) as string })
    end = found.index + whole.length
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) })
  return pieces
}
