/** A table has a cell for each of its columns in every line, also in an empty one: 20 kB of text make 12 million. */
const CELLS_MAX = 10_000
/** Quotes and lists that a line opens at once: their cost grows with the square of the depth. */
const DEPTH_MAX = 30
/** Of emphasis and links; unpaired ones are compared with each other. */
const MARKS_MAX = 2_000

/** The line below the head of a table, also within quotes and lists. */
const TABLE_RULE = /^[\s>*+\-\d.)|:]*$/
const CONTAINERS = /^[\s>*+\-\d.)]*/
/** A quote, or a mark of a list with the space after it. */
const CONTAINER = />|[-*+.)]\s/g

/** Whether a block of less than 20 kB could keep the page busy for seconds. */
export function isCostly(block: string): boolean {
  if (countOf(block, /[*_~[\]]/g) > MARKS_MAX) return true
  const lines = block.split('\n')
  let columns = 0
  for (const line of lines) {
    if (countOf(CONTAINERS.exec(line)?.[0] ?? '', CONTAINER) > DEPTH_MAX) return true
    if (TABLE_RULE.test(line)) columns = Math.max(columns, countOf(line, /\|/g))
  }
  return columns * lines.length > CELLS_MAX
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
