/** The rows of the live log: they stay in their places while one of them is open. */
import { useState } from 'react'
import type { Call } from './usage-queries.ts'

export interface SteadyCharges {
  readonly shown: readonly Call[]
  /** Newer than the rows that are shown. */
  readonly newCount: number
  /** There may be more of them than the page that was read. */
  readonly hasMoreNew: boolean
  readonly openIds: ReadonlySet<string>
  readonly toggle: (id: string) => void
  readonly showNew: () => void
}

/** `charges`: as they are now, the newest first. */
export function useSteadyCharges(charges: readonly Call[]): SteadyCharges {
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(new Set())
  /** The rows since the first one was opened; undefined while the log is live. */
  const [kept, setKept] = useState<readonly Call[]>()
  const { shown, newCount, hasMoreNew } = kept ? addOlder(kept, charges) : live(charges)
  return {
    shown,
    newCount,
    hasMoreNew,
    openIds,
    toggle(id) {
      const next = new Set(openIds)
      if (!next.delete(id)) next.add(id)
      setOpenIds(next)
      setKept(next.size === 0 ? undefined : (kept ?? charges))
    },
    showNew() {
      setOpenIds(new Set())
      setKept(undefined)
    },
  }
}

function live(charges: readonly Call[]) {
  return { shown: charges, newCount: 0, hasMoreNew: false }
}

function addOlder(kept: readonly Call[], charges: readonly Call[]) {
  const known = new Set(kept.map(({ id }) => id))
  const others = charges.filter(({ id }) => !known.has(id))
  const last = kept.at(-1)
  const older = others.filter(({ created_at }) => last && created_at <= last.created_at)
  return {
    shown: [...kept, ...older],
    newCount: others.length - older.length,
    hasMoreNew: others.length === charges.length && older.length === 0,
  }
}
