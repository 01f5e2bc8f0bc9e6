/** Limits how many slots one owner holds at once, on this node. */
export interface Slots {
  /** Returns the function that frees the slot; undefined when all are taken. `ownMax`: for an owner with another limit. */
  take(owner: string, ownMax?: number): (() => void) | undefined
  isFull(owner: string, ownMax?: number): boolean
  /** The most slots of one owner without another limit. */
  readonly max: number
}

export function createSlots(max: number): Slots {
  const taken = new Map<string, number>()
  const countOf = (owner: string): number => taken.get(owner) ?? 0
  return {
    max,
    isFull: (owner, ownMax = max) => countOf(owner) >= ownMax,
    take(owner, ownMax = max) {
      if (countOf(owner) >= ownMax) return undefined
      taken.set(owner, countOf(owner) + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const left = countOf(owner) - 1
        if (left === 0) taken.delete(owner)
        else taken.set(owner, left)
      }
    },
  }
}
