/**
 * A document of text on A4 pages as PDF 1.4, in Helvetica, which every reader has: nothing is embedded. It has the
 * characters of Western Europe; others lose their accents, or become a question mark.
 */
export interface PdfLine {
  readonly text: string
  /** At the right edge of the same line: an amount. */
  readonly right?: string
  readonly style?: 'title' | 'heading' | 'small'
  /** A line is drawn above it. */
  readonly isRuled?: boolean
}

const [WIDTH, HEIGHT, MARGIN] = [595, 842, 56]
const SIZES = { title: 18, heading: 12, text: 10.5, small: 9 }
/** In thousandths of the size, from the space to the tilde. Bold figures are as wide; bold letters are a tenth wider. */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
  556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
  611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
  667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
  222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]
/** Beyond Latin-1, where Windows-1252 has them. */
const CODES = new Map([
  ['€', 0x80],
  ['…', 0x85],
  ['‘', 0x91],
  ['’', 0x92],
  ['“', 0x93],
  ['”', 0x94],
  ['•', 0x95],
  ['–', 0x96],
  ['−', 0x96],
  ['—', 0x97],
])

export function writePdf(title: string, lines: readonly PdfLine[]): Buffer {
  const pages = pagesOf(lines)
  const objects = [
    `<</Type/Catalog/Pages 2 0 R/Lang(pt-BR)/ViewerPreferences<</DisplayDocTitle true>>>>`,
    `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, index) => `${6 + index * 2} 0 R`).join(' ')}]>>`,
    ...['Helvetica', 'Helvetica-Bold'].map(
      (name) => `<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`,
    ),
    `<</Title<${Buffer.from(`\uFEFF${title}`, 'utf16le').swap16().toString('hex')}>/Producer(Catraca)>>`,
    ...pages.flatMap((content, index) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${WIDTH} ${HEIGHT}]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>/Contents ${7 + index * 2} 0 R>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    ]),
  ]
  let text = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const place = text.length
    text += `${index + 1} 0 obj${object}endobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${places.length + 1}\n0000000000 65535 f \n${places.join('')}`
  return Buffer.from(
    `${text}${table}trailer<</Size ${places.length + 1}/Root 1 0 R/Info 5 0 R>>\nstartxref\n${text.length}\n%%EOF\n`,
    'latin1',
  )
}

/** The drawing of each page. Lines that are too long are broken between words. */
function pagesOf(lines: readonly PdfLine[]): string[] {
  const pages: string[][] = [[]]
  let y = HEIGHT - MARGIN
  for (const line of lines) {
    const size = SIZES[line.style ?? 'text']
    const space =
      WIDTH - 2 * MARGIN - (line.right === undefined ? 0 : widthOf(line.right, size) + 12)
    for (const [index, part] of broken(line.text, space, size).entries()) {
      y -= size * (index === 0 && line.style === 'heading' ? 2.4 : 1.6)
      if (y < MARGIN) {
        pages.push([])
        y = HEIGHT - MARGIN - size
      }
      const page = pages.at(-1) as string[]
      const isFirst = index === 0
      if (isFirst && line.isRuled)
        page.push(`0.5 w ${MARGIN} ${y + size * 1.2} m ${WIDTH - MARGIN} ${y + size * 1.2} l S`)
      const font = line.style === 'title' || line.style === 'heading' ? 'F2' : 'F1'
      const show = (x: number, shown: string): void =>
        void page.push(
          `BT/${font} ${size} Tf ${x.toFixed(1)} ${y.toFixed(1)} Td<${hexOf(shown)}>Tj ET`,
        )
      show(MARGIN, part)
      if (isFirst && line.right !== undefined)
        show(WIDTH - MARGIN - widthOf(line.right, size), line.right)
    }
  }
  return pages.map((page) => page.join('\n'))
}

function broken(text: string, space: number, size: number): string[] {
  const parts: string[] = []
  for (const word of text.split(' ')) {
    const last = parts.at(-1)
    const longer = last === undefined ? word : `${last} ${word}`
    if (last === undefined || widthOf(longer, size) > space) parts.push(word)
    else parts[parts.length - 1] = longer
  }
  return parts.flatMap((part) => cut(part, space, size))
}

/** A word that is longer than a line. */
function cut(word: string, space: number, size: number): string[] {
  const fitting = Math.floor(space / size)
  return widthOf(word, size) <= space
    ? [word]
    : (word.match(new RegExp(`.{1,${fitting}}`, 'gsu')) ?? [])
}

function widthOf(text: string, size: number): number {
  const widths = Array.from(text.normalize('NFD').replaceAll(/\p{M}/gu, '')).map(
    (character) =>
      WIDTHS[(character === '\u00A0' ? 32 : (character.codePointAt(0) ?? 0)) - 32] ?? 556,
  )
  return (widths.reduce((sum, width) => sum + width, 0) * size) / 1_000
}

function hexOf(text: string): string {
  return Array.from(text.normalize('NFC'))
    .flatMap((character) => {
      const code = CODES.get(character) ?? character.codePointAt(0) ?? 0
      if (code < 256 && code > 31) return [code]
      const plain = character.normalize('NFD').charCodeAt(0)
      return [plain > 31 && plain < 127 ? plain : 0x3f]
    })
    .map((code) => code.toString(16).padStart(2, '0'))
    .join('')
}
