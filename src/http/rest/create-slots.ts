/** Limits how many slots one owner holds at once, on this node. */
export interface Slots {
  /** Returns the function that frees the slot; undefined when all are taken. */
  take(owner: string): (() => void) | undefined
}

export function createSlots(slotsMax: number): Slots {
  const taken = new Map<string, number>()
  return {
    take(owner) {
      const before = taken.get(owner) ?? 0
      if (before >= slotsMax) return undefined
      taken.set(owner, before + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const left = (taken.get(owner) ?? 1) - 1
        if (left === 0) taken.delete(owner)
        else taken.set(owner, left)
      }
    },
  }
}
