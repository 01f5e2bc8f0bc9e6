import { createPace } from './rate.ts'

/** The answer if more works of the customer wait than may: their clients may have left. */
export const TOO_MANY_WAIT = Symbol('too many works wait')

/** The processor's time that a customer's requests take before they cost anything. */
export interface OwnTime {
  /** Works of one customer that may wait. */
  readonly waitingMax: number
  /**
   * Resolves when the customer's earlier works are paid for by the time since; undefined if they are. The next work must
   * begin at once: another one that waits would begin, too.
   */
  turn(customerId: string): Promise<void> | typeof TOO_MANY_WAIT | undefined
  /** Does a work, during which nothing else runs. Its time delays the customer's next turn. */
  take<Result>(customerId: string, work: () => Result): Result
  /** Does a work when its turn has come. Of a promise, only the time until it is returned counts. */
  takeInTurn<Result>(
    customerId: string,
    work: () => Result | Promise<Result>,
  ): Promise<Result | typeof TOO_MANY_WAIT>
  /**
   * Waits for the customer's turn and does a work in slices, between which the works of others run, but no other one of
   * this customer in slices. `work` returns the milliseconds of its slices.
   */
  takeSlices(customerId: string, work: () => Promise<number>): Promise<void>
  /** As `takeSlices`, but does nothing while another such work of this customer waits or runs. */
  takeOnlySlices(customerId: string, work: () => Promise<number>): Promise<void>
}

/** As much as the reading of bodies may take by their bytes. */
const OWN_MS_PER_SECOND = 160
/** Ordinary requests take less. */
const FREE_MS = 5
/** A smaller body is read in less than the time that is free, whatever it contains. */
export const TIMED_FROM_BYTES = 32 * 1024

/**
 * Shares the processor's time between customers. The time of a work is known at its end alone: of two bodies of as many
 * bytes, one may take twenty times as long, and the shield needs a second for the two million characters of a request
 * if all are numbers.
 */
export function createOwnTime(
  /** Works of one customer that wait. */
  waitingMax: number,
  now: () => number = () => performance.now(),
): OwnTime {
  const waiting = new Map<string, number>()
  const pace = createPace({ perSecond: Infinity, ownPerSecond: OWN_MS_PER_SECOND }, now)
  /** The last work in slices of each customer that has one. */
  const inSlices = new Map<string, Promise<void>>()

  /** Works that waited together begin one after another. */
  async function waitOn(customerId: string, turn: Promise<void>): Promise<void> {
    waiting.set(customerId, waitingOf(customerId) + 1)
    for (let next: Promise<void> | undefined = turn; next; next = pace.wait(customerId, 0))
      await next
    const left = waitingOf(customerId) - 1
    if (left > 0) waiting.set(customerId, left)
    else waiting.delete(customerId)
  }

  function waitingOf(customerId: string): number {
    return waiting.get(customerId) ?? 0
  }

  function spend(customerId: string, ms: number): void {
    if (ms > FREE_MS) void pace.wait(customerId, ms)
  }

  function turn(customerId: string): Promise<void> | typeof TOO_MANY_WAIT | undefined {
    const paid = pace.wait(customerId, 0)
    if (!paid) return undefined
    if (waitingOf(customerId) >= waitingMax) return TOO_MANY_WAIT
    return waitOn(customerId, paid)
  }

  function take<Result>(customerId: string, work: () => Result): Result {
    const startedAt = now()
    try {
      return work()
    } finally {
      spend(customerId, now() - startedAt)
    }
  }

  const only = new Set<string>()

  async function takeSlices(customerId: string, work: () => Promise<number>): Promise<void> {
    const before = inSlices.get(customerId)
    const { promise, resolve } = Promise.withResolvers<void>()
    inSlices.set(customerId, promise)
    try {
      await before
      const turn = pace.wait(customerId, 0)
      if (turn) await waitOn(customerId, turn)
      spend(customerId, await work())
    } finally {
      if (inSlices.get(customerId) === promise) inSlices.delete(customerId)
      resolve()
    }
  }

  return {
    waitingMax,
    turn,
    take,
    async takeInTurn(customerId, work) {
      const waited = turn(customerId)
      if (waited === TOO_MANY_WAIT) return waited
      if (waited) await waited
      return take(customerId, work)
    },
    takeSlices,
    async takeOnlySlices(customerId, work) {
      if (only.has(customerId)) return
      only.add(customerId)
      await takeSlices(customerId, work).finally(() => only.delete(customerId))
    },
  }
}
