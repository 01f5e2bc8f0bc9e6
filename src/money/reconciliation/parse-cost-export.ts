/**
 * Reads the costs per day from a CSV export of an upstream. The columns identify the format:
 *
 * - `generic`: `day` (YYYY-MM-DD, of UTC), `cost_usd`, and perhaps `model`;
 * - `openai`: the cost export of the usage dashboard: `start_time_iso` or `start_time` (Unix seconds),
 *   `amount_value`, `amount_currency`, and perhaps `line_item` (`gpt-5-nano, input_tokens`);
 * - `anthropic`: the cost export of the console: `usage_date_utc`, `cost_usd`, and perhaps `model`.
 *
 * Other columns are ignored. Lines of one day and model are added up exactly and rounded once.
 */
import type { PicoUsd } from '../../platform/lib/money.ts'

export type CostFormat = 'generic' | 'openai' | 'anthropic'

export interface DayCost {
  /** `YYYY-MM-DD`, of UTC. */
  readonly day: string
  /** '' if the export has no models. */
  readonly model: string
  readonly costPicoUsd: PicoUsd
}

export type ParsedCosts =
  | { readonly kind: 'costs'; readonly format: CostFormat; readonly costs: readonly DayCost[] }
  | { readonly kind: 'fault'; readonly detail: string; readonly line?: number }

/** Decimal places of the exact sums; thirty have been seen in exports. */
const SCALE = 60
const PICO_SCALE = 12
const ROUNDING = 10n ** BigInt(SCALE - PICO_SCALE)
/** Nine million dollars, which fit into an int8. */
const PICO_USD_MAX = 9_000_000_000_000_000_000n
const MODEL_CHARACTERS_MAX = 200
const DAY_MS = 86_400_000

interface Format {
  readonly name: CostFormat
  readonly needs: readonly string[]
  readonly dayOf: (fields: CsvRecord['fields']) => string | undefined
  readonly costOf: (fields: CsvRecord['fields']) => string | undefined
  readonly modelOf: (fields: CsvRecord['fields']) => string
}

const FORMATS: readonly Format[] = [
  {
    name: 'openai',
    needs: ['amount_value', 'amount_currency'],
    dayOf: openAiDay,
    // A day without usage has a line without an amount.
    costOf: ({ amount_value: value, amount_currency: currency }) =>
      value === '' ? '0' : currency?.toLowerCase() === 'usd' ? value : undefined,
    modelOf: ({ line_item: item = '' }) => item.split(',', 1)[0] as string,
  },
  {
    name: 'anthropic',
    needs: ['usage_date_utc', 'cost_usd'],
    dayOf: ({ usage_date_utc: day }) => day,
    costOf: ({ cost_usd: cost }) => cost,
    modelOf: ({ model = '' }) => model,
  },
  {
    name: 'generic',
    needs: ['day', 'cost_usd'],
    dayOf: ({ day }) => day,
    costOf: ({ cost_usd: cost }) => cost,
    modelOf: ({ model = '' }) => model,
  },
]

export function parseCostExport(text: string): ParsedCosts {
  const read = readCsv(text)
  if (read.kind === 'fault') return read
  const format = FORMATS.find(({ needs }) => needs.every((name) => read.columns.includes(name)))
  if (!format)
    return fault(
      `the columns are ${read.columns.join(', ') || 'none'}; supported are day and cost_usd, amount_value and amount_currency, usage_date_utc and cost_usd`,
    )
  if (read.records.length === 0) return fault('there is no line after the header')
  const sums = new Map<string, { day: string; model: string; scaled: bigint }>()
  for (const { line, fields } of read.records) {
    const day = format.dayOf(fields)
    if (day === undefined || !isDay(day)) return fault('there is no UTC day', line)
    const scaled = parseScaled(format.costOf(fields) ?? '')
    if (scaled === undefined) return fault('there is no amount in USD', line)
    const model = format.modelOf(fields).trim()
    if (model.length > MODEL_CHARACTERS_MAX || model.includes('\0'))
      return fault('the model is too long', line)
    const key = `${day} ${model}`
    const sum = sums.get(key) ?? { day, model, scaled: 0n }
    sums.set(key, { ...sum, scaled: sum.scaled + scaled })
  }
  const costs = [...sums.values()].map(({ day, model, scaled }) => ({
    day,
    model,
    costPicoUsd: roundToPico(scaled),
  }))
  const tooMuch = costs.find(({ costPicoUsd: cost }) => cost > PICO_USD_MAX || -cost > PICO_USD_MAX)
  if (tooMuch) return fault(`${tooMuch.day}: more than nine million dollars`)
  return { kind: 'costs', format: format.name, costs }
}

/** Accepts buckets of one day only: a line for a whole month does not give the costs of its days. */
function openAiDay(fields: CsvRecord['fields']): string | undefined {
  const startMs = timeOf(fields.start_time_iso, fields.start_time)
  const endMs = timeOf(fields.end_time_iso, fields.end_time)
  if (startMs === undefined || startMs % DAY_MS !== 0) return undefined
  if (endMs !== undefined && endMs - startMs !== DAY_MS) return undefined
  return new Date(startMs).toISOString().slice(0, 10)
}

/** A time without a zone is UTC, as in the dashboard. */
function timeOf(iso: string | undefined, seconds: string | undefined): number | undefined {
  if (iso) {
    const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d))?(?:Z|\+00:00)?$/.exec(iso)
    const time = match ? Date.parse(`${match[1]}T${match[2] ?? '00:00:00'}Z`) : Number.NaN
    return Number.isNaN(time) ? undefined : time
  }
  return seconds && /^\d{9,11}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

/** Whether the text is an existing day of the years 2000 to 2099. */
function isDay(text: string): boolean {
  const time = /^20\d\d-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Reads `12.5`, `-0.01` or `4.5e-07` as an integer scaled by 10^SCALE. */
function parseScaled(text: string): bigint | undefined {
  const match = /^([+-]?)(\d{1,15})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const zeros = SCALE - fraction.length + Number(exponent)
  if (zeros < 0) return undefined
  const scaled = BigInt(whole + fraction) * 10n ** BigInt(zeros)
  return sign === '-' ? -scaled : scaled
}

/** Rounds half away from zero. */
function roundToPico(scaled: bigint): PicoUsd {
  const size = scaled < 0n ? -scaled : scaled
  const rounded = (size + ROUNDING / 2n) / ROUNDING
  return scaled < 0n ? -rounded : rounded
}

function fault(detail: string, line?: number): ParsedCosts {
  return line === undefined
    ? { kind: 'fault', detail }
    : { kind: 'fault', detail: `line ${line}: ${detail}`, line }
}

/** Reads CSV (RFC 4180) with commas or semicolons, quotes, and an optional byte-order mark. */
type ReadCsv =
  | { readonly kind: 'records'; readonly records: readonly CsvRecord[]; readonly columns: string[] }
  | { readonly kind: 'fault'; readonly detail: string }

interface CsvRecord {
  /** The line number in the file; the header is line 1. */
  readonly line: number
  /** Trimmed cells by column name in lower case; '' for a column that the line lacks. */
  readonly fields: Readonly<Record<string, string>>
}

function readCsv(text: string): ReadCsv {
  const plain = text.replace(/^\ufeff/, '')
  const [head = ''] = plain.split(/\r?\n/, 1)
  const separator = head.includes(';') && !head.includes(',') ? ';' : ','
  const lines = splitLines(plain, separator)
  if (!lines) return { kind: 'fault', detail: 'a quotation mark is never closed' }
  const [first, ...rest] = lines
  const columns = (first?.cells ?? []).map((name) => name.trim().toLowerCase())
  if (new Set(columns).size < columns.length)
    return { kind: 'fault', detail: 'two columns have the same name' }
  const records = rest
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
    .map(({ line, cells }) => ({
      line,
      fields: Object.fromEntries(columns.map((name, at) => [name, (cells[at] ?? '').trim()])),
    }))
  return { kind: 'records', records, columns }
}

interface Line {
  readonly line: number
  readonly cells: string[]
}

/** Returns undefined if a quotation mark is still open at the end. */
function splitLines(text: string, separator: string): Line[] | undefined {
  const lines: Line[] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  let line = 1
  let start = 1
  const endCell = (): void => {
    cells.push(cell)
    cell = ''
  }
  const endLine = (): void => {
    endCell()
    lines.push({ line: start, cells })
    cells = []
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\n') line += 1
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (character === '"' && cell.trim() === '') {
      isQuoted = true
      cell = ''
    } else if (character === separator) endCell()
    else if (character === '\n') {
      endLine()
      start = line
    } else if (character !== '\r') cell += character
  }
  if (isQuoted) return undefined
  if (cell !== '' || cells.length > 0) endLine()
  return lines
}
