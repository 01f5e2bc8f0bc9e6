import type { Database } from '../db/open.ts'
import { summarizeHealth, type VendorHealth } from './summarize-health.ts'

/** How long a summary is served from memory, and may be cached by clients. */
export const SUMMARY_AGE_SECONDS_MAX = 30

export interface HealthSummaries {
  find(days: number): Promise<readonly VendorHealth[]>
}

/**
 * The health of each vendor over a window of days. Callers without a key must not be able to load the database, so each
 * window is computed at most once in 30 seconds.
 */
export function createHealthSummaries(db: Database): HealthSummaries {
  const kept = new Map<number, { untilMs: number; vendors: Promise<VendorHealth[]> }>()
  return {
    find(days) {
      const nowMs = performance.now()
      const found = kept.get(days)
      if (found && nowMs < found.untilMs) return found.vendors
      const vendors = summarizeHealth(db, days)
      const entry = { untilMs: nowMs + SUMMARY_AGE_SECONDS_MAX * 1000, vendors }
      kept.set(days, entry)
      vendors.catch(() => {
        if (kept.get(days) === entry) kept.delete(days)
      })
      return vendors
    },
  }
}
