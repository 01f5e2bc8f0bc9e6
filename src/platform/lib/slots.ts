import { NOTHING_ELSEWHERE, type SharedRunning } from './shared-running.ts'

/** Limits how many slots one owner holds at once, on this server. */
export interface Slots {
  /** Returns the function that frees the slot; undefined when all are taken. `ownMax`: for an owner with another limit. */
  take(owner: string, ownMax?: number): (() => void) | undefined
  isFull(owner: string, ownMax?: number): boolean
  /** The most slots of one owner without another limit. */
  readonly max: number
}

export function createSlots(max: number, shared: SharedRunning = NOTHING_ELSEWHERE): Slots {
  const taken = new Map<string, number>()
  const ownOf = (owner: string): number => taken.get(owner) ?? 0
  const countOf = (owner: string): number => ownOf(owner) + shared.elsewhere(owner)
  const set = (owner: string, count: number): void => {
    if (count === 0) taken.delete(owner)
    else taken.set(owner, count)
    shared.changed(owner, count)
  }
  return {
    max,
    isFull: (owner, ownMax = max) => countOf(owner) >= ownMax,
    take(owner, ownMax = max) {
      if (countOf(owner) >= ownMax) return undefined
      set(owner, ownOf(owner) + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        set(owner, ownOf(owner) - 1)
      }
    },
  }
}
