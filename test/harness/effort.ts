/**
 * How much the tests try that could go on for ever: kills, generated requests, schedules. The ordinary run does a
 * share that fits into minutes; `TEST_EFFORT=full` does all that was promised, and generates by a new seed each time.
 */
export const isFullEffort = process.env.TEST_EFFORT === 'full'

/** The number for this run. */
export function effort(numbers: { readonly ordinary: number; readonly full: number }): number {
  return isFullEffort ? numbers.full : numbers.ordinary
}

/** `TEST_SEED` if it is set; failing tests print it. The ordinary run uses the same seed each time. */
export function seedOr(ordinary: number): number {
  if (process.env.TEST_SEED) return Number(process.env.TEST_SEED)
  return isFullEffort ? Math.floor(Math.random() * 2 ** 31) : ordinary
}
