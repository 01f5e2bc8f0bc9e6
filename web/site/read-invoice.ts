/**
 * Reads an invoice, an exported table of usage, or lines that somebody typed. A line counts once: by the US$ that were
 * billed for it, or else by its tokens at the model's list price.
 */
import type { PricedModel } from './calculator-prices.ts'
import { readAmount, readCount } from './read-number.ts'
import { readTable } from './read-table.ts'
import type { Tokens } from './tokens.ts'

export interface InvoiceLine {
  readonly text: string
  /** Undefined: the line names no model of the catalog. */
  readonly model: PricedModel | undefined
  /** pico-USD at the maker's list price. */
  readonly cost: bigint
}

export interface Invoice {
  readonly lines: readonly InvoiceLine[]
  /** Lines with tokens of a model that the catalog does not have, so that their cost is not known. */
  readonly unknown: readonly string[]
}

const MONEY = /(?:US\$|USD|(?<![A-Z])\$)\s*(\d[\d.,]*)|(\d[\d.,]*)\s*(?:USD|US\$)/gi
/** Reais, as on the statement of a card: they are turned into dollars by the rate. */
const REAIS = /(?:R\$|BRL)\s*(\d[\d.,]*)|(\d[\d.,]*)\s*(?:BRL|reais)/gi
/** A total in dollars, and nothing else. */
const BARE = /^\d[\d.,]*$/
const TOKENS =
  /(\d[\d.,]*)\s*(k|mil|mi|m|milhão|milhões)?\s*(?:de\s+)?(?:tokens?)?\s*(?:de\s+)?(cached|cache|entrada|input|prompt|saída|saida|output|completion)/gi
const TOTAL = /\b(sub-?total|total|amount (due|paid)|valor (pago|devido))\b/i
const TAX = /\b(tax|vat|gst|imposto|iss|iof)\b/i

export function readInvoice(text: string, models: readonly PricedModel[], rateE4: bigint): Invoice {
  const byName = namesOf(models)
  const table = readTable(text)
  if (table) {
    const lines: InvoiceLine[] = []
    const unknown: string[] = []
    for (const { name, amount, tokens } of table) {
      const model = findModel(name, byName)
      if (amount !== undefined) lines.push({ text: name, model, cost: amount })
      else if (model) lines.push({ text: name, model, cost: costOf(model, tokens) })
      else unknown.push(name)
    }
    return { lines: summed(lines), unknown: [...new Set(unknown)] }
  }
  return readLines(text, byName, rateE4)
}

function readLines(text: string, byName: readonly Named[], rateE4: bigint): Invoice {
  const lines: InvoiceLine[] = []
  const totals: InvoiceLine[] = []
  const unknown: string[] = []
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || TAX.test(line)) continue
    const model = findModel(line, byName)
    const amount = lastAmount(line, rateE4)
    if (amount !== undefined)
      (TOTAL.test(line) && !model ? totals : lines).push({ text: line, model, cost: amount })
    else {
      const tokens = tokensOf(line)
      if (!tokens) continue
      if (model) lines.push({ text: line, model, cost: costOf(model, tokens) })
      else unknown.push(line)
    }
  }
  // A total repeats its lines; of several totals the last one has everything.
  return { lines: lines.length > 0 ? lines : totals.slice(-1), unknown }
}

/** The last amount of a line is what was billed; one before it is the price of a unit. */
function lastAmount(line: string, rateE4: bigint): bigint | undefined {
  if (BARE.test(line)) return readAmount(line)
  const usd = lastOf(line, MONEY)
  if (usd !== undefined) return usd
  const brl = lastOf(line, REAIS)
  return brl === undefined ? undefined : (brl * 10_000n) / rateE4
}

function lastOf(line: string, pattern: RegExp): bigint | undefined {
  const [, whole, other] = [...line.matchAll(pattern)].at(-1) ?? []
  const given = (whole ?? other)?.replace(/[.,]$/, '')
  return given === undefined ? undefined : readAmount(given)
}

function tokensOf(line: string): Tokens | undefined {
  const sum = { input: 0n, cached: 0n, output: 0n }
  let isAny = false
  for (const [, count = '', unit, kind = ''] of line.matchAll(TOKENS)) {
    const tokens = readCount(count.replace(/[.,]$/, ''), unit)
    if (tokens === undefined) continue
    isAny = true
    const word = kind.toLowerCase()
    if (word.startsWith('cache')) sum.cached += tokens
    else if (/^(sa|out|comp)/.test(word)) sum.output += tokens
    else sum.input += tokens
  }
  return isAny ? sum : undefined
}

export function costOf(model: PricedModel, { input, cached, output }: Tokens): bigint {
  const read = cached < input ? cached : input
  return (input - read) * model.input + read * model.cached + output * model.output
}

interface Named {
  readonly name: string
  readonly model: PricedModel
}

/** Longer names first: `gpt-4o-mini` is not `gpt-4o`. */
function namesOf(models: readonly PricedModel[]): readonly Named[] {
  return models
    .flatMap((model) => [
      { name: model.id.toLowerCase(), model },
      { name: model.name.toLowerCase(), model },
    ])
    .toSorted((one, other) => other.name.length - one.name.length)
}

/** A date after a model's name is a version of it; any other ending is another model. */
function findModel(text: string, byName: readonly Named[]): PricedModel | undefined {
  const lower = text.toLowerCase()
  return byName.find(({ name }) => {
    for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + 1)) {
      const before = at === 0 ? '' : lower.charAt(at - 1)
      const after = lower.slice(at + name.length)
      if (!/[a-z\d.-]/.test(before) && /^(-\d{4}(?!\d{0,}k)|\.?(?![a-z\d.-]))/.test(after))
        return true
    }
    return false
  })?.model
}

/** An export has a line for each day; people compare models. */
function summed(lines: readonly InvoiceLine[]): InvoiceLine[] {
  const sums = new Map<string, InvoiceLine>()
  for (const line of lines) {
    const key = line.model?.id ?? line.text
    const sum = sums.get(key)
    sums.set(key, { ...(sum ?? line), cost: (sum?.cost ?? 0n) + line.cost })
  }
  return [...sums.values()].filter(({ cost }) => cost > 0n)
}
