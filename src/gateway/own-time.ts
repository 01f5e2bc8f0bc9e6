import { createPace } from '../lib/pace.ts'

/** The processor's time that a customer's requests take before they cost anything. */
export interface OwnTime {
  /**
   * Resolves when the customer's earlier works are paid for by the time since; undefined if they are. The next work must
   * begin at once: another one that waits would begin, too.
   */
  turn(customerId: string): Promise<void> | undefined
  /** Does a work, during which nothing else runs. Its time delays the customer's next turn. */
  take<Result>(customerId: string, work: () => Result): Result
  /**
   * Waits for the customer's turn and does a work in slices, between which the works of others run, but no other one of
   * this customer in slices. `work` returns the milliseconds of its slices.
   */
  takeSlices(customerId: string, work: () => Promise<number>): Promise<void>
}

/** As much as the reading of bodies may take by their bytes. */
const OWN_MS_PER_SECOND = 160
/** Ordinary requests take less. */
const FREE_MS = 5

/**
 * The time of a work is known at its end alone: of two bodies of as many bytes, one may take twenty times as long, and
 * the shield needs a second for the two million characters of a request if all are numbers.
 */
export function createOwnTime(now: () => number = () => performance.now()): OwnTime {
  const pace = createPace({ perSecond: Infinity, ownPerSecond: OWN_MS_PER_SECOND }, now)

  /** The last work in slices of each customer that has one. */
  const inSlices = new Map<string, Promise<void>>()

  /** Works that waited together begin one after another. */
  async function waitOn(customerId: string, turn: Promise<void>): Promise<void> {
    await turn
    const next = pace.wait(customerId, 0)
    if (next) await waitOn(customerId, next)
  }

  function spend(customerId: string, ms: number): void {
    if (ms > FREE_MS) void pace.wait(customerId, ms)
  }

  function turn(customerId: string): Promise<void> | undefined {
    const paid = pace.wait(customerId, 0)
    return paid && waitOn(customerId, paid)
  }

  return {
    turn,
    take(customerId, work) {
      const startedAt = now()
      try {
        return work()
      } finally {
        spend(customerId, now() - startedAt)
      }
    },
    async takeSlices(customerId, work) {
      const before = inSlices.get(customerId)
      const { promise, resolve } = Promise.withResolvers<void>()
      inSlices.set(customerId, promise)
      try {
        await before
        await turn(customerId)
        spend(customerId, await work())
      } finally {
        if (inSlices.get(customerId) === promise) inSlices.delete(customerId)
        resolve()
      }
    },
  }
}
