/** A refusal names at most so many models. */
const NEAREST_MAX = 3
/** Longer than any name: nobody makes this node compare long texts. */
const CHARACTERS_MAX = 100

/**
 * Returns the ids that a client may have meant by a name that the catalog does not have: those with the fewest
 * characters to change. A client only reads them; no model answers under another name.
 */
export function nearestModels(name: string, ids: readonly string[]): string[] {
  const wanted = withoutMaker(name)
  if (wanted.length > CHARACTERS_MAX) return []
  return ids
    .map((id) => ({ id, changes: countChanges(wanted, withoutMaker(id)) }))
    .toSorted((a, b) => a.changes - b.changes || (a.id < b.id ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ id }) => id)
}

function withoutMaker(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase()
}

/** The Levenshtein distance. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, length) => length)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++)
      next.push(
        Math.min(
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1),
        ),
      )
    row = next
  }
  return row[to.length] as number
}
