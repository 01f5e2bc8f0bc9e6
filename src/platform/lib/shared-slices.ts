import { createTurns } from './turns.ts'

/** Other calls wait at most about this long, however much work is open. */
const SLICE_MS = 5

/**
 * Does long works step by step, one slice of one of them in each turn of the event loop. They take turns, so that a
 * short work waits for one slice of each long one and not for their ends. `step` returns false when nothing is left;
 * one step must be short.
 */
export function createSharedSlices(
  now: () => number = () => performance.now(),
): (step: () => boolean) => Promise<void> {
  const turns = createTurns(1)
  return async (step) => {
    while (true) {
      const endTurn = await turns.take()
      setImmediate(endTurn)
      const endsAt = now() + SLICE_MS
      do if (!step()) return
      while (now() < endsAt)
    }
  }
}
