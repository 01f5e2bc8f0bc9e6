/**
 * A text in one spelling for the characters that documents are written with: full-width forms, spaces, dashes and
 * escapes become plain ASCII, invisible characters vanish. So the finders know ASCII alone.
 */
export interface FoldedText {
  readonly text: string
  /** The place in the source where the character at this place of the folded text begins. */
  sourceOf(index: number): number
}

/** By the code of a character: 1 if a special spelling may begin with it. A table is faster than an expression. */
const BEGINNINGS = createTable([
  [0x5c],
  [0x25, 0x26],
  [0x85],
  [0xa0],
  [0xad],
  [0xb7],
  [0x34f],
  [0x61c],
  [0x1680],
  [0x180e],
  [0x2000, 0x2015],
  [0x2022],
  [0x2024],
  [0x2028, 0x202f],
  [0x2044],
  [0x205f, 0x206f],
  [0x20e3],
  [0x2212],
  [0x2215],
  [0x2219],
  [0x3000],
  [0x3002],
  [0xd835],
  [0xfe00, 0xfe0f],
  [0xfe58],
  [0xfe63],
  [0xfeff],
  [0xff01, 0xff5e],
  [0xff61],
])
/**
 * Escapes, because texts often contain JSON: `\/` in a CNPJ, `\u003c` before an address, `\n` before a CPF; several
 * backslashes are JSON within JSON. `%40` is the `@` of an address within a URL, and `&#64;` within HTML.
 */
const ESCAPE =
  /\\{1,32}u[dD]835\\{1,32}u[dD][fF](?:[cC][eEfF]|[d-fD-F][0-9a-fA-F])|\\{1,32}(?:u[0-9a-fA-F]{4}|[nrtbf/])|%[2-7][0-9a-fA-F]|&#(?:64|[xX]40);|\uD835[\uDFCE-\uDFFF]/y
const FONT_ESCAPE = /u[dD]835\\/
const BACKSLASH = 0x5c
const PERCENT = 0x25
const AMPERSAND = 0x26
const NUMBER_SIGN = 0x23
/** The characters after the backslashes of an `ESCAPE`. */
const ESCAPED: ReadonlySet<number> = new Set(Array.from('unrtbf/', (each) => each.charCodeAt(0)))
const FIRST_OF_FONTS = 0xd835

/** So many special spellings take less than a millisecond. */
const STEP_SPELLINGS = 1_024

/** Pauses now and then: a text of escapes alone takes as long as one of numbers. */
export function* foldText(source: string): Generator<void, FoldedText> {
  const pieces: string[] = []
  // From the place `places[n]` on, the source is `shifts[n]` characters further.
  const places: number[] = []
  const shifts: number[] = []
  let done = 0
  let length = 0
  let from = 0
  let spellings = 0
  for (let start = findBeginning(source, from); start !== -1; start = findBeginning(source, from)) {
    spellings += 1
    if (spellings % STEP_SPELLINGS === 0) yield
    from = endOfPlain(source, start)
    if (from > start) continue
    const spelling = readSpelling(source, start)
    const folded = foldSpecial(spelling)
    pieces.push(source.slice(done, start), folded)
    length += start - done + folded.length
    done = start + spelling.length
    from = done
    if (folded.length === spelling.length) continue
    places.push(length)
    shifts.push(done - length)
  }
  if (done === 0) return { text: source, sourceOf: (index) => index }
  pieces.push(source.slice(done))
  return { text: pieces.join(''), sourceOf: (index) => index + shiftAt(places, shifts, index) }
}

function findBeginning(source: string, from: number): number {
  for (let index = from; index < source.length; index += 1)
    if (BEGINNINGS[source.charCodeAt(index)] === 1) return index
  return -1
}

/**
 * The end of a text that begins like an escape and stays as it is, such as the quotation marks of JSON within JSON;
 * `start` if there may be none.
 */
function endOfPlain(source: string, start: number): number {
  switch (source.charCodeAt(start)) {
    case BACKSLASH: {
      let end = start + 1
      while (source.charCodeAt(end) === BACKSLASH) end += 1
      return ESCAPED.has(source.charCodeAt(end)) ? start : end
    }
    case PERCENT: {
      const digit = source.charCodeAt(start + 1)
      return digit >= 0x32 && digit <= 0x37 ? start : start + 1
    }
    case AMPERSAND:
      return source.charCodeAt(start + 1) === NUMBER_SIGN ? start : start + 1
    default:
      return start
  }
}

function createTable(ranges: readonly (readonly [from: number, to?: number])[]): Uint8Array {
  const table = new Uint8Array(0x10000)
  for (const [from, to = from] of ranges) table.fill(1, from, to + 1)
  return table
}

/** The escape that begins here, or a single character. */
function readSpelling(source: string, start: number): string {
  const code = source.charCodeAt(start)
  const isPlain = code >= 0xa0 && code !== FIRST_OF_FONTS
  ESCAPE.lastIndex = start
  if (!isPlain && ESCAPE.test(source)) return source.slice(start, ESCAPE.lastIndex)
  if (code !== BACKSLASH) return source.charAt(start)
  let end = start + 1
  while (source.charCodeAt(end) === BACKSLASH) end += 1
  return source.slice(start, end)
}

/** One character, or none for an invisible one. */
function foldSpecial(spelling: string): string {
  const first = spelling.charCodeAt(0)
  if (spelling.length === 1 && (first < 128 || first === FIRST_OF_FONTS)) return spelling
  if (spelling.startsWith('&')) return '@'
  if (spelling.startsWith('%')) return String.fromCharCode(Number.parseInt(spelling.slice(1), 16))
  if (first === FIRST_OF_FONTS) return digitOfFont(spelling.charCodeAt(1))
  if (first !== BACKSLASH) return foldCharacter(first)
  const escape = spelling.slice(spelling.lastIndexOf('\\') + 1)
  if (escape === '') return spelling
  if (escape.startsWith('u')) {
    const code = Number.parseInt(escape.slice(1), 16)
    return FONT_ESCAPE.test(spelling) ? digitOfFont(code) : foldCharacter(code)
  }
  return escape === '/' ? '/' : '\n'
}

/** Of the five mathematical alphabets (`𝟓`), by the second half of the pair. */
function digitOfFont(low: number): string {
  return String((low - 0xdfce) % 10)
}

/** Dots in the middle and bullets, and the full stops of East Asia, which domains may have. */
const DOTS: ReadonlySet<number> = new Set([0xb7, 0x2022, 0x2024, 0x2219, 0x3002, 0xff61])

function foldCharacter(code: number): string {
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0)
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212) return '-'
  if (code === 0xfe58 || code === 0xfe63) return '-'
  if (DOTS.has(code)) return '.'
  if (code === 0x2044 || code === 0x2215) return '/'
  if (isInvisible(code)) return ''
  if (code === 0xa0 || code === 0x1680 || (code >= 0x2000 && code <= 0x200a)) return ' '
  if (code === 0x202f || code === 0x205f || code === 0x3000) return ' '
  if (code === 0x85 || code === 0x2028 || code === 0x2029) return '\n'
  return code < 32 ? '\n' : String.fromCharCode(code)
}

/** Joiners, marks of direction, selectors of variants, and the frame of a digit on a key (`5️⃣`). */
function isInvisible(code: number): boolean {
  if (code === 0xad || code === 0x34f || code === 0x61c || code === 0x180e || code === 0xfeff)
    return true
  if ((code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e)) return true
  return (code >= 0x2060 && code <= 0x206f) || code === 0x20e3 || (code >= 0xfe00 && code <= 0xfe0f)
}

/** The shift of the last entry at or before the place. */
function shiftAt(places: readonly number[], shifts: readonly number[], index: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] as number) <= index) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : (shifts[low - 1] as number)
}
