/**
 * Fetches the newest closing PTAX. One request covers the last ten days, because there are no rates on weekends and
 * holidays, and Carnival and the end of the year have several in a row. The fallback sources are tried only if it fails.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { addDays, dayInBrasilia } from '../../platform/lib/days.ts'
import { isFarFrom, JUMP_PERCENT_MAX } from './fx-rates.ts'
import {
  PTAX_BASES,
  PTAX_SOURCES,
  PtaxFault,
  type PtaxRow,
  type PtaxSource,
  type PtaxSourceName,
  type PtaxWindow,
} from './ptax-sources.ts'

export type PtaxResult =
  | (PtaxRow & { readonly kind: 'rate'; readonly source: PtaxSourceName })
  /** No source has a plausible rate; the stored one stays in force. */
  | { readonly kind: 'unavailable'; readonly faults: readonly string[] }

export interface FetchPtax {
  readonly fetch: typeof fetch
  readonly now: Date
  /** Known rates, times 10^4. A new rate more than 20 % away from each of them is rejected. */
  readonly knownE4s?: readonly bigint[]
  readonly bases?: Readonly<Record<PtaxSourceName, string>>
  /** Waits this many milliseconds before a retry. */
  readonly wait?: (ms: number) => Promise<void>
}

const WINDOW_DAYS = 10
const RATE_E4_MAX = 1_000_000n
const TRIES = 3
const RETRY_MS = 500
const TIMEOUT_MS = 5_000
const ANSWER_BYTES_MAX = 256 * 1024

export async function fetchPtax(options: FetchPtax): Promise<PtaxResult> {
  const last = dayInBrasilia(options.now)
  const window = { first: addDays(last, 1 - WINDOW_DAYS), last }
  const faults: string[] = []
  for (const source of PTAX_SOURCES) {
    try {
      const newest = await newestOf(source, window, options)
      assertPlausible(newest, window, options.knownE4s ?? [])
      return { kind: 'rate', ...newest, source: source.name }
    } catch (error) {
      faults.push(`${source.name}: ${(error as Error).message}`)
    }
  }
  return { kind: 'unavailable', faults }
}

async function newestOf(
  source: PtaxSource,
  window: PtaxWindow,
  options: FetchPtax,
): Promise<PtaxRow> {
  for (const url of source.urls((options.bases ?? PTAX_BASES)[source.name], window)) {
    const text = await textOf(url, options)
    if (text === undefined) continue
    // The order of rows differs between sources.
    const [newest] = source.read(text).toSorted((a, b) => (a.rateDate < b.rateDate ? 1 : -1))
    if (newest) return newest
  }
  throw new PtaxFault(`no rate between ${window.first} and ${window.last}`)
}

function assertPlausible(
  { rateE4, rateDate }: PtaxRow,
  window: PtaxWindow,
  knownE4s: readonly bigint[],
): void {
  if (rateE4 <= 0n || rateE4 >= RATE_E4_MAX) throw new PtaxFault(`a rate of ${rateE4} / 10^4`)
  if (rateDate > window.last || rateDate < window.first)
    throw new PtaxFault(`a rate of ${rateDate}, which is outside the requested days`)
  if (knownE4s.length > 0 && knownE4s.every((knownE4) => isFarFrom(rateE4, knownE4)))
    throw new PtaxFault(
      `${rateE4} / 10^4 on ${rateDate} is more than ${JUMP_PERCENT_MAX} % from ${knownE4s.join(' and ')}`,
    )
}

/** The text of the answer; undefined on a `404`, which means that the source has no rate for that day. */
async function textOf(
  url: string,
  { fetch, wait = (ms) => sleep(ms) }: FetchPtax,
): Promise<string | undefined> {
  for (let left = TRIES - 1; ; left--) {
    try {
      const answer = await fetch(url, {
        headers: { accept: 'application/json, text/csv', 'user-agent': 'catraca' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      if (answer.ok) return await boundedText(answer)
      await answer.body?.cancel()
      if (answer.status === 404) return undefined
      throw new PtaxFault(`status ${answer.status}`)
    } catch (error) {
      if (left === 0) throw error
    }
    await wait(RETRY_MS * (1 + Math.random()))
  }
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_BYTES_MAX) throw new PtaxFault('an answer that is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
