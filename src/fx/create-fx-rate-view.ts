import type { Database } from '../db/open.ts'
import { findCurrentFxRate, type FxRate } from './fx-rates.ts'

/** The rate in force as this process knows it: no call reads it from the database. */
export interface FxRateView {
  current(): FxRate | undefined
  /**
   * Reads it again. Of two that run at once the one that began later counts, whichever ends first. It rejects
   * where the database does not answer in time; the rate stays what it was.
   */
  reload(): Promise<void>
}

/** A connection that is half open answers nothing, and would keep the next reading from beginning. */
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
