import type { SpoolFile } from './spool-file.ts'

/** Knows the file with the newest row of each hold, and when a refused row is due again. */
export interface WaitingHolds {
  readonly size: number
  has(holdId: string): boolean
  isNewestIn(holdId: string, file: SpoolFile): boolean
  /** Records that the file has a row of the hold; the file with the highest number has the newest row. */
  note(holdId: string, file: SpoolFile): void
  /** The newest row of the hold was taken. */
  forget(holdId: string, file: SpoolFile): void
  /** Forgets all holds of the file except these. */
  forgetOthers(file: SpoolFile, holdIds: ReadonlySet<string>): void
  refuse(holdId: string, nowMs: number): void
  /** By the clock of the spool; 0 if the row was not refused. */
  dueAt(holdId: string): number
}

/** The pause after the first refusal; each further one doubles it. */
const REFUSED_MS_MIN = 5_000
const REFUSED_MS_MAX = 600_000

export function createWaitingHolds(): WaitingHolds {
  const newest = new Map<string, SpoolFile>()
  const refused = new Map<string, { dueAt: number; pauseMs: number }>()

  function remove(holdId: string, file: SpoolFile): void {
    newest.delete(holdId)
    refused.delete(holdId)
    file.waiting -= 1
  }

  return {
    get size() {
      return newest.size
    },
    has: (holdId) => newest.has(holdId),
    isNewestIn: (holdId, file) => newest.get(holdId) === file,
    note(holdId, file) {
      const before = newest.get(holdId)
      if (before && before.number > file.number) return
      if (before) remove(holdId, before)
      newest.set(holdId, file)
      file.waiting += 1
      file.retryAt = 0
    },
    forget(holdId, file) {
      if (newest.get(holdId) === file) remove(holdId, file)
    },
    forgetOthers(file, holdIds) {
      for (const [holdId, where] of newest) {
        if (where === file && !holdIds.has(holdId)) remove(holdId, file)
      }
    },
    refuse(holdId, nowMs) {
      const pauseMs = Math.min((refused.get(holdId)?.pauseMs ?? 0) * 2, REFUSED_MS_MAX)
      const next = Math.max(pauseMs, REFUSED_MS_MIN)
      refused.set(holdId, { dueAt: nowMs + next, pauseMs: next })
    },
    dueAt: (holdId) => refused.get(holdId)?.dueAt ?? 0,
  }
}
