import type { DiffLine } from '../../lib/diff-lines.ts'

/** Unchanged lines to keep around a change. */
const CONTEXT = 3
/** The line that gives the number of hidden lines takes as much space as one of them. */
const HIDDEN_MIN = 3

export type Shown =
  | { readonly kind: 'line'; readonly line: DiffLine }
  | { readonly kind: 'hidden'; readonly count: number }

/** Folds unchanged lines that are far from any change. */
export function foldSame(lines: readonly DiffLine[]): Shown[] {
  const isNear = new Uint8Array(lines.length)
  for (const [place, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(1, Math.max(0, place - CONTEXT), place + CONTEXT + 1)
  const shown: Shown[] = []
  for (let place = 0; place < lines.length;) {
    let end = place
    while (end < lines.length && isNear[end] === isNear[place]) end++
    const run = lines.slice(place, end)
    if (isNear[place] === 0 && run.length >= HIDDEN_MIN)
      shown.push({ kind: 'hidden', count: run.length })
    else shown.push(...run.map((line): Shown => ({ kind: 'line', line })))
    place = end
  }
  return shown
}
