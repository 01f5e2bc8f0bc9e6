import { createPace } from '../../lib/pace.ts'

/** Reads texts of a customer; nothing else runs meanwhile. */
export type ShieldWork = <Result>(customerId: string, read: () => Result) => Promise<Result>

/** Of the processor, for one customer: as much as the reading of bodies may take. */
const OWN_MS_PER_SECOND = 160

/**
 * Spaces the readings of each customer: the texts that take longest, numbers without end, take a second for the two
 * million characters of a request. The time of one reading is known at its end, and delays the customer's next one.
 */
export function createShieldWork(now: () => number = () => performance.now()): ShieldWork {
  const pace = createPace({ perSecond: Infinity, ownPerSecond: OWN_MS_PER_SECOND }, now)
  return async (customerId, read) => {
    // Those that waited together begin one after another.
    for (;;) {
      const turn = pace.wait(customerId, 0)
      if (!turn) break
      await turn
    }
    const startedAt = now()
    const result = read()
    void pace.wait(customerId, now() - startedAt)
    return result
  }
}
