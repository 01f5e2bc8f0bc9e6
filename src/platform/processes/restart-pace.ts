/** How soon a dead worker is replaced: at once, unless workers die soon after their start again and again. */
export interface RestartPace {
  /**
   * A worker died that had been ready for so long, in milliseconds; 0 if it never was. Returns the pause before its
   * replacement starts.
   */
  died(readyMs: number): number
  /** How many died in a row without a steady one between them. */
  readonly quickDeaths: number
}

/** A worker that was ready for this time was steady. */
const STEADY_MS = 10_000
const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 5_000

export function createRestartPace(): RestartPace {
  let quickDeaths = 0
  return {
    died(readyMs) {
      quickDeaths = readyMs >= STEADY_MS ? 0 : quickDeaths + 1
      return quickDeaths === 0
        ? 0
        : Math.min(PAUSE_MS_MIN * 2 ** Math.min(quickDeaths - 1, 10), PAUSE_MS_MAX)
    },
    get quickDeaths() {
      return quickDeaths
    },
  }
}
