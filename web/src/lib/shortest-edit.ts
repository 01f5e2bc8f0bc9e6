/**
 * The shortest edit between two lists, by the algorithm of Myers (1986). The time grows with their length times
 * the number of changes, so texts that are nearly equal are compared fast.
 */

export type EditKind = 'same' | 'removed' | 'added'

export interface Edit {
  readonly kind: EditKind
  readonly text: string
}

/**
 * Lists with more changes have little in common: the result is then all of one followed by all of the other.
 */
const CHANGES_MAX = 1_200

export function shortestEdit(
  before: readonly string[],
  after: readonly string[],
  changesMax = CHANGES_MAX,
): Edit[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return [
    ...marked('same', before.slice(0, start)),
    ...between(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
      changesMax,
    ),
    ...marked('same', before.slice(before.length - end)),
  ]
}

function marked(kind: EditKind, texts: readonly string[]): Edit[] {
  return texts.map((text) => ({ kind, text }))
}

function between(before: readonly string[], after: readonly string[], changesMax: number): Edit[] {
  const trace =
    before.length > 0 && after.length > 0 ? furthestPoints(before, after, changesMax) : undefined
  if (trace) return walkBack(before, after, trace)
  return [...marked('removed', before), ...marked('added', after)]
}

/**
 * For each number of changes, how far into `before` each diagonal reaches (a diagonal is the position in
 * `before` minus the position in `after`), until both ends are reached. Undefined when that takes more than
 * `changesMax` changes.
 */
function furthestPoints(
  before: readonly string[],
  after: readonly string[],
  changesMax: number,
): Int32Array[] | undefined {
  const trace: Int32Array[] = []
  let last = new Int32Array(3)
  for (let changes = 0; changes <= changesMax; changes++) {
    // Diagonal d is at index d + changes + 1, with one spare place on each side.
    const now = new Int32Array(2 * changes + 3)
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = changes === 0 ? 0 : stepTo(last, diagonal, changes)
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal])
        x++
      now[diagonal + changes + 1] = x
      if (x >= before.length && x - diagonal >= after.length) return [...trace, now]
    }
    trace.push(now)
    last = now
  }
  return undefined
}

/** Extends the points of one change less: by an addition from the diagonal above, or by a removal. */
function stepTo(last: Int32Array, diagonal: number, changes: number): number {
  return isAddition(last, diagonal, changes)
    ? (last[diagonal + 1 + changes] as number)
    : (last[diagonal - 1 + changes] as number) + 1
}

function isAddition(last: Int32Array, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true
  if (diagonal === changes) return false
  return (last[diagonal - 1 + changes] as number) < (last[diagonal + 1 + changes] as number)
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Int32Array[],
): Edit[] {
  const edits: Edit[] = []
  let x = before.length
  let y = after.length
  for (let changes = trace.length - 1; changes > 0; changes--) {
    const last = trace[changes - 1] as Int32Array
    const diagonal = x - y
    const isAdded = isAddition(last, diagonal, changes)
    const from = isAdded ? diagonal + 1 : diagonal - 1
    const fromX = last[from + changes] as number
    const afterChange = isAdded ? fromX : fromX + 1
    for (; x > afterChange; x--, y--) edits.push({ kind: 'same', text: before[x - 1] as string })
    if (isAdded) edits.push({ kind: 'added', text: after[--y] as string })
    else edits.push({ kind: 'removed', text: before[--x] as string })
  }
  for (; x > 0; x--) edits.push({ kind: 'same', text: before[x - 1] as string })
  return edits.toReversed()
}
