import { setImmediate as nextTurn } from 'node:timers/promises'

/** Other calls wait at most about this long for a slice. */
const SLICE_MS = 5

/**
 * Does long work step by step, and lets the event loop serve others between slices of it. `step` returns false when
 * nothing is left; one step must be short.
 */
export async function inSlices(
  step: () => boolean,
  now: () => number = () => performance.now(),
): Promise<void> {
  let endsAt = now() + SLICE_MS
  while (step()) {
    if (now() < endsAt) continue
    await nextTurn()
    endsAt = now() + SLICE_MS
  }
}
