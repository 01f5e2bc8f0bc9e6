/**
 * Sums of usage, done again from the events that a test seeded: plain loops over whole numbers, and nothing
 * of the product's own arithmetic.
 */
import type { SeededUse } from './seed-usage.ts'

/** A use whose cost the test chose. */
export interface KnownUse extends SeededUse {
  readonly costPicoUsd: bigint
  readonly apiKeyId: string
}

export interface Sums {
  requests: bigint
  failed: bigint
  prompt: bigint
  completion: bigint
  billed: bigint
  cost: bigint
}

export function sumsOf(uses: readonly KnownUse[]): Sums {
  const sums = { requests: 0n, failed: 0n, prompt: 0n, completion: 0n, billed: 0n, cost: 0n }
  for (const use of uses) {
    if (use.outcome === 'released') {
      sums.failed += 1n
      continue
    }
    sums.requests += 1n
    sums.prompt += BigInt(use.promptTokens)
    sums.completion += BigInt(use.completionTokens)
    sums.cost += use.costPicoUsd
    sums.billed += billedOf(use.costPicoUsd)
  }
  return sums
}

/** The seed's rate of 5 and markup of 2: 10 times the cost, from twelve digits to nine, half up. */
export function billedOf(costPicoUsd: bigint): bigint {
  return (costPicoUsd * 10n + 500n) / 1_000n
}

export function grouped(
  uses: readonly KnownUse[],
  keyOf: (use: KnownUse) => string,
): [string, Sums][] {
  return [...Map.groupBy(uses, keyOf)]
    .map(([key, list]): [string, Sums] => [key, sumsOf(list)])
    .sort(([, left], [, right]) => (left.billed < right.billed ? 1 : -1))
}

/** `12345n` with three digits: `12.345`. */
export function decimal(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, '0')
  const rest = text.slice(-digits).replace(/0+$/, '')
  return text.slice(0, -digits) + (rest === '' ? '' : `.${rest}`)
}

export function halfUp(top: bigint, bottom: bigint): bigint {
  const isUp = (top % bottom) * 2n >= bottom
  return top / bottom + (isUp ? 1n : 0n)
}

/** Microseconds since 1970 of text like `2026-01-31T02:59:59.999999Z`. */
export function microsOf(at: Date | string): bigint {
  if (at instanceof Date) return BigInt(at.getTime()) * 1_000n
  return BigInt(Date.parse(`${at.slice(0, 23)}Z`)) * 1_000n + BigInt(at.slice(23, 26))
}

export function exactTimeOf(micros: bigint): string {
  const text = new Date(Number(micros / 1_000n)).toISOString()
  return `${text.slice(0, 23)}${(micros % 1_000n).toString().padStart(3, '0')}Z`
}

/** Midnight of the first of the last days, today included, in microseconds; by the zone data of Node.js. */
export function firstMidnight(timezone: string, days: number, now = Date.now()): bigint {
  const [year = 0, month = 0, day = 0] = localDay(timezone, now).split('-').map(Number)
  const asIfUtc = Date.UTC(year, month - 1, day - (days - 1))
  // The offset of about that time, then of that very time.
  const about = asIfUtc - offsetMs(timezone, asIfUtc)
  return BigInt(asIfUtc - offsetMs(timezone, about)) * 1_000n
}

/** `YYYY-MM-DD` */
export function localDay(timezone: string, at: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at)
}

function offsetMs(timezone: string, at: number): number {
  const name = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name ?? '') ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
