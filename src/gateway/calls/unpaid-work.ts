/**
 * Plain answers that their own request made too slow or too long: the upstream worked, and bills it, and the customer
 * owes nothing. Also sounds that an upstream says were longer than what was held. Counted by customer, in this process
 * alone.
 */
export interface UnpaidWork {
  note(customerId: string): void
  /** The seconds until the customer may have large plain answers again; undefined if now. */
  findWait(customerId: string): number | undefined
}

/** More than an honest client does before it reads the message: each takes minutes. */
export const UNPAID_WORK_MAX = 20
/** At 20 tokens per second, a minute: within every time limit. */
export const SMALL_OUTPUT_TOKENS = 1_200
const HOUR_MS = 3_600_000
const CUSTOMERS_MAX = 10_000

export function createUnpaidWork(now: () => number = () => performance.now()): UnpaidWork {
  const times = new Map<string, number[]>()

  function recent(customerId: string): number[] {
    const found = (times.get(customerId) ?? []).filter((at) => at > now() - HOUR_MS)
    if (found.length === 0) times.delete(customerId)
    return found
  }

  return {
    note(customerId) {
      if (times.size >= CUSTOMERS_MAX) for (const id of times.keys()) recent(id)
      times.set(customerId, [...recent(customerId), now()].slice(-UNPAID_WORK_MAX))
    },
    findWait(customerId) {
      const found = recent(customerId)
      const [oldest] = found
      if (oldest === undefined || found.length < UNPAID_WORK_MAX) return undefined
      return Math.max(1, Math.ceil((oldest + HOUR_MS - now()) / 1_000))
    },
  }
}
