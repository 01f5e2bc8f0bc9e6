import type { Database } from '../../platform/db/open.ts'
import { findCurrentFxRate, type FxRate } from './fx-rates.ts'

/** The exchange rate in force, cached in this process, so that calls do not read it from the database. */
export interface FxRateView {
  current(): FxRate | undefined
  /**
   * Reads the rate again. If two reloads overlap, the one that started later wins, whichever ends first. Rejects if the
   * database does not answer within 10 s; the rate then stays unchanged.
   */
  reload(): Promise<void>
}

/** A half-open connection never answers, and would block the next reload. */
const READ_MS_MAX = 10_000

export function createFxRateView(
  db: Database,
  mode: 'sandbox' | 'live',
  first: FxRate | undefined,
): FxRateView {
  let rate = first
  let begun = 0
  let applied = 0
  return {
    current: () => rate,
    async reload() {
      const turn = ++begun
      const found = await within(READ_MS_MAX, findCurrentFxRate(db, mode))
      if (turn < applied) return
      applied = turn
      rate = found ?? rate
    },
  }
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
