/** How many of something one owner may have at once, on this node. */
export interface Slots {
  /** What gives it back, where one was free. */
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
