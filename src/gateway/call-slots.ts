/** The calls that run at once, limited for each customer on each node. */
export interface CallSlots {
  /** False if the customer has no slot left. A taken slot must be released. */
  take(customerId: string): boolean
  release(customerId: string): void
  isFull(customerId: string): boolean
  readonly max: number
}

export function createCallSlots(max: number): CallSlots {
  const running = new Map<string, number>()
  return {
    take(customerId) {
      const count = running.get(customerId) ?? 0
      if (count >= max) return false
      running.set(customerId, count + 1)
      return true
    },
    release(customerId) {
      const count = (running.get(customerId) ?? 0) - 1
      if (count > 0) running.set(customerId, count)
      else running.delete(customerId)
    },
    isFull: (customerId) => (running.get(customerId) ?? 0) >= max,
    max,
  }
}
