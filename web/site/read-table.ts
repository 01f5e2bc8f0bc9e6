/** Reads an exported table with a line of column names, as CSV or pasted from a spreadsheet. */
import { readAmount, readCount } from './read-number.ts'
import type { Tokens } from './tokens.ts'

export interface TableLine {
  /** The cell that names the model. */
  readonly name: string
  /** pico-USD; undefined if the table has no costs. */
  readonly amount: bigint | undefined
  readonly tokens: Tokens
}

const COLUMNS = {
  name: ['model', 'modelo', 'snapshot_id', 'snapshot', 'line_item', 'name', 'description'],
  amount: ['amount_value', 'amount', 'cost', 'cost_usd', 'cost_in_usd', 'usd', 'valor_usd'],
  input: ['input_tokens', 'prompt_tokens', 'n_context_tokens_total', 'context_tokens', 'input'],
  cached: ['input_cached_tokens', 'cached_tokens', 'n_cached_context_tokens_total'],
  output: ['output_tokens', 'completion_tokens', 'n_generated_tokens_total', 'output'],
} as const

/** Undefined for text that is no such table. */
export function readTable(text: string): TableLine[] | undefined {
  const [first = '', ...rest] = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const separator = [',', ';', '\t'].find((each) => first.includes(each))
  if (separator === undefined || rest.length === 0) return undefined
  const heads = cellsOf(first.replace(/^\uFEFF/, ''), separator).map((head) => head.toLowerCase())
  const placeOf = (kind: keyof typeof COLUMNS) =>
    COLUMNS[kind].map((name) => heads.indexOf(name)).find((place) => place !== -1)
  const places = { name: placeOf('name'), amount: placeOf('amount') }
  const [input, cached, output] = [placeOf('input'), placeOf('cached'), placeOf('output')]
  const { name } = places
  if (name === undefined || (places.amount ?? input ?? output) === undefined) return undefined
  return rest.map((line) => {
    const cells = cellsOf(line, separator)
    const count = (place: number | undefined) =>
      (place === undefined ? undefined : readCount(cells[place] ?? '')) ?? 0n
    const hasTokens = input !== undefined || output !== undefined
    return {
      name: cells[name] ?? '',
      amount:
        hasTokens || places.amount === undefined
          ? undefined
          : (readAmount(cells[places.amount] ?? '') ?? 0n),
      tokens: { input: count(input), cached: count(cached), output: count(output) },
    }
  })
}

/** A cell in quotes may contain the separator. */
function cellsOf(line: string, separator: string): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      cells.push(cell.trim())
      cell = ''
    } else cell += character
  }
  return [...cells, cell.trim()]
}
