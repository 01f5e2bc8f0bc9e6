/** A refusal names at most so many models. */
const NEAREST_MAX = 3
/** Longer than any name: nobody makes this node compare long texts. */
const CHARACTERS_MAX = 100

interface Near {
  readonly id: string
  readonly changes: number
}

/**
 * Returns the ids that a client may have meant by a name that the catalog does not have: those with the fewest
 * characters to change. A client only reads them; no model answers under another name. A thousand ids take less than a
 * millisecond: the call of an unknown model is counted for its limits only afterwards.
 */
export function nearestModels(name: string, ids: readonly string[]): string[] {
  const wanted = withoutMaker(name)
  if (wanted.length > CHARACTERS_MAX) return []
  const letters = countLetters(wanted)
  const candidates = ids
    .map((id) => ({ id, changes: leastChanges(letters, wanted.length, withoutMaker(id)) }))
    .sort(byChanges)
  let nearest: Near[] = []
  for (const least of candidates) {
    const last = nearest[NEAREST_MAX - 1]
    // With no more changes than it must have, it would come behind the nearest so far.
    if (last && byChanges(last, least) < 0) continue
    const { id } = least
    const changes = countChanges(wanted, withoutMaker(id), last?.changes ?? Infinity)
    nearest = [...nearest, { id, changes }].sort(byChanges).slice(0, NEAREST_MAX)
  }
  return nearest.map(({ id }) => id)
}

function byChanges(a: Near, b: Near): number {
  return a.changes - b.changes || (a.id < b.id ? -1 : 1)
}

function withoutMaker(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase()
}

const LETTERS = 128

/** Letters beyond ASCII share a place with others. */
function placeOf(name: string, index: number): number {
  return name.charCodeAt(index) % LETTERS
}

function countLetters(name: string): Uint8Array {
  const counts = new Uint8Array(LETTERS)
  for (let index = 0; index < name.length; index++) (counts[placeOf(name, index)] as number)++
  return counts
}

/** The letters that only one of the names has, in any order, are changed in any case. */
function leastChanges(letters: Uint8Array, length: number, name: string): number {
  const left = letters.slice()
  let shared = 0
  for (let index = 0; index < name.length; index++) {
    const place = placeOf(name, index)
    if (left[place] === 0) continue
    ;(left[place] as number)--
    shared++
  }
  return Math.max(length, name.length) - shared
}

/** The Levenshtein distance, or some number above `most` if it is above. */
function countChanges(from: string, to: string, most: number): number {
  const row = new Uint16Array(to.length + 1)
  for (let j = 1; j <= to.length; j++) row[j] = j
  for (let i = 1; i <= from.length; i++) {
    const letter = from.charCodeAt(i - 1)
    let diagonal = i - 1
    let before = i
    let least = i
    row[0] = i
    for (let j = 1; j <= to.length; j++) {
      const above = row[j] as number
      if (to.charCodeAt(j - 1) === letter) before = diagonal
      else before = 1 + Math.min(diagonal, above, before)
      row[j] = before
      diagonal = above
      if (before < least) least = before
    }
    if (least > most) return least
  }
  return row[to.length] as number
}
