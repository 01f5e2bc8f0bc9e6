/**
 * The three sources from which the central bank of Brazil publishes the closing PTAX (USD, sell), best first. Each
 * parses an answer into rows, and throws `PtaxFault` for any other content: maintenance pages also have status 200.
 */
import { addDays } from '../../platform/lib/days.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { parseE4 } from '../../platform/lib/money.ts'

/** The closing rate of one business day. */
export interface PtaxRow {
  /** BRL per USD, times 10^4. */
  readonly rateE4: bigint
  /** `YYYY-MM-DD` in Brasília. */
  readonly rateDate: string
  /** When the bulletin was published; null if the source does not say. */
  readonly bulletinAt: Date | null
}

/** Thrown for the fault of an answer, with a message for the operator. */
export class PtaxFault extends Error {}

export type PtaxSourceName = 'bcb_olinda' | 'bcb_sgs' | 'bcb_csv'

export interface PtaxSource {
  readonly name: PtaxSourceName
  /** The addresses to request in order; the next one is used if the last had no rate or was a `404`. */
  urls(base: string, window: PtaxWindow): string[]
  read(text: string): PtaxRow[]
}

/** The days that are asked for, both inclusive, `YYYY-MM-DD` in Brasília. */
export interface PtaxWindow {
  readonly first: string
  readonly last: string
}

export const PTAX_BASES: Readonly<Record<PtaxSourceName, string>> = {
  bcb_olinda: 'https://olinda.bcb.gov.br/olinda/servico/PTAX/versao/v1/odata',
  bcb_sgs: 'https://api.bcb.gov.br/dados/serie/bcdata.sgs.1',
  bcb_csv: 'https://www4.bcb.gov.br/Download/fechamento',
}

/** OData with the closing bulletin only. Dates are MM-DD-YYYY; an empty list means that there was no business day. */
const olinda: PtaxSource = {
  name: 'bcb_olinda',
  urls: (base, { first, last }) => [
    `${base}/CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)` +
      `?@dataInicial='${monthFirst(first)}'&@dataFinalCotacao='${monthFirst(last)}'` +
      '&$top=100&$orderby=dataHoraCotacao%20desc&$format=json',
  ],
  read(text) {
    const answer = parseJson(text)
    const rows = isObject(answer) ? answer.value : undefined
    if (!Array.isArray(rows)) throw new PtaxFault('no list of rates in the answer')
    return rows.map((row) => {
      const at = isObject(row) ? row.dataHoraCotacao : undefined
      // Local time of Brasília without a zone, with a space instead of the T and one to six fractional digits.
      const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?$/.exec(String(at))
      if (!match) throw new PtaxFault(`not the time of a bulletin: ${String(at)}`)
      return {
        rateE4: rateOf(isObject(row) ? row.cotacaoVenda : undefined),
        rateDate: match[1] as string,
        bulletinAt: new Date(`${match[1]}T${match[2]}-03:00`),
      }
    })
  },
}

/** Series 1 of the time series system (SGS) equals the closing PTAX. Dates are DD/MM/YYYY. */
const sgs: PtaxSource = {
  name: 'bcb_sgs',
  urls: (base, { first, last }) => [
    `${base}/dados?formato=json&dataInicial=${dayFirst(first)}&dataFinal=${dayFirst(last)}`,
  ],
  read(text) {
    const rows = parseJson(text)
    if (!Array.isArray(rows)) throw new PtaxFault('no list of rates in the answer')
    return rows.map((row) => ({
      rateE4: rateOf(isObject(row) ? row.valor : undefined),
      rateDate: isoDate(isObject(row) ? row.data : undefined),
      bulletinAt: null,
    }))
  },
}

const USD_CODE = '220'

/** One file per day with all currencies: date;code;type;symbol;buy;sell;parities, with decimal commas. */
const csv: PtaxSource = {
  name: 'bcb_csv',
  urls: (base, window) =>
    daysOf(window)
      .filter((day) => !isWeekend(day))
      .toReversed()
      .map((day) => `${base}/${day.replaceAll('-', '')}.csv`),
  read(text) {
    const dollar = text
      .split(/\r?\n/)
      .map((line) => line.split(';'))
      .find((fields) => fields[1] === USD_CODE && fields[3] === 'USD')
    if (!dollar) throw new PtaxFault('no line of the dollar in the file')
    const rateE4 = rateOf(dollar[5]?.replace(',', '.'))
    return [{ rateE4, rateDate: isoDate(dollar[0]), bulletinAt: null }]
  },
}

export const PTAX_SOURCES: readonly PtaxSource[] = [olinda, sgs, csv]

/** Parses numbers as their source text, so that no double ever rounds a rate. */
function parseJson(text: string): unknown {
  const exact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? context?.source : value
  try {
    return JSON.parse(text, exact)
  } catch {
    throw new PtaxFault(`not JSON: ${text.trimStart().slice(0, 40)}`)
  }
}

function rateOf(decimal: unknown): bigint {
  const rateE4 = typeof decimal === 'string' ? parseE4(decimal) : undefined
  if (rateE4 === undefined) throw new PtaxFault(`not a rate: ${String(decimal)}`)
  return rateE4
}

function isoDate(date: unknown): string {
  const match = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(String(date))
  if (!match) throw new PtaxFault(`not a date: ${String(date)}`)
  return `${match[3]}-${match[2]}-${match[1]}`
}

function monthFirst(day: string): string {
  const [year, month, date] = day.split('-')
  return `${month}-${date}-${year}`
}

function dayFirst(day: string): string {
  return day.split('-').toReversed().join('/')
}

const DAY_MS = 86_400_000

function daysOf({ first, last }: PtaxWindow): string[] {
  const count = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1
  return Array.from({ length: count }, (_, index) => addDays(first, index))
}

function isWeekend(day: string): boolean {
  return [0, 6].includes(new Date(day).getUTCDay())
}
