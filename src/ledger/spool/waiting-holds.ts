import type { SpoolFile } from './spool-file.ts'

/** Which file has the newest row of each hold, and when a row that was refused is due again. */
export interface WaitingHolds {
  readonly size: number
  has(holdId: string): boolean
  isNewestIn(holdId: string, file: SpoolFile): boolean
  /** A row of the hold is in the file; the newest one is in the file of the highest number. */
  note(holdId: string, file: SpoolFile): void
  /** The newest row of the hold needs nothing any more. */
  forget(holdId: string, file: SpoolFile): void
  /** Forgets every hold of the file but these. */
  forgetOthers(file: SpoolFile, holdIds: ReadonlySet<string>): void
  refuse(holdId: string, nowMs: number): void
  /** By the clock of the spool; 0 where it was not refused. */
  dueAt(holdId: string): number
}

/** The first pause after a refusal, which doubles with each. */
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
