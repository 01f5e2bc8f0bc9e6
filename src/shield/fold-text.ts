/**
 * One spelling for the characters that documents are written with: full-width forms, spaces, dashes and escapes
 * become plain ASCII, invisible characters vanish. So the finders know ASCII alone.
 */
export interface FoldedText {
  readonly text: string
  /** The place in the source where the character at this place of the folded text begins. */
  sourceOf(place: number): number
}

/**
 * Escapes, because texts often contain JSON: `\/` in a CNPJ, `\u003c` before an address, `\n` before a CPF; several
 * backslashes are JSON within JSON. `%40` is the `@` of an address within a URL.
 */
const SPECIAL =
  /\\{1,8}(?:u[0-9a-fA-F]{4}|[nrtbf/])|%40|[\u00A0\u00AD\u1680\u2000-\u2015\u202F\u205F\u2060\u2212\u3000\uFE58\uFE63\uFEFF\uFF01-\uFF5E]/g

export function foldText(source: string): FoldedText {
  SPECIAL.lastIndex = 0
  let match = SPECIAL.exec(source)
  if (match === null) return { text: source, sourceOf: (place) => place }

  const pieces: string[] = []
  // From the place `places[n]` on, the source is `shifts[n]` characters further.
  const places: number[] = []
  const shifts: number[] = []
  let done = 0
  let length = 0
  for (; match !== null; match = SPECIAL.exec(source)) {
    const [spelling] = match
    const folded = foldSpecial(spelling)
    pieces.push(source.slice(done, match.index), folded)
    length += match.index - done + folded.length
    done = match.index + spelling.length
    if (folded.length === spelling.length) continue
    places.push(length)
    shifts.push(done - length)
  }
  pieces.push(source.slice(done))
  return { text: pieces.join(''), sourceOf: (place) => place + shiftAt(places, shifts, place) }
}

/** One character, or none for an invisible one. */
function foldSpecial(spelling: string): string {
  if (spelling === '%40') return '@'
  if (!spelling.startsWith('\\')) return foldCharacter(spelling.charCodeAt(0))
  const escape = spelling.slice(spelling.lastIndexOf('\\') + 1)
  if (escape.startsWith('u')) return foldCharacter(Number.parseInt(escape.slice(1), 16))
  return escape === '/' ? '/' : '\n'
}

function foldCharacter(code: number): string {
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0)
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212) return '-'
  if (code === 0xfe58 || code === 0xfe63) return '-'
  if (code === 0xad || code === 0x2060 || code === 0xfeff) return ''
  if (code >= 0x200b && code <= 0x200f) return ''
  if (code === 0xa0 || code === 0x1680 || (code >= 0x2000 && code <= 0x200a)) return ' '
  if (code === 0x202f || code === 0x205f || code === 0x3000) return ' '
  return code < 32 ? '\n' : String.fromCharCode(code)
}

/** The shift of the last entry at or before the place. */
function shiftAt(places: readonly number[], shifts: readonly number[], place: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] as number) <= place) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : (shifts[low - 1] as number)
}
