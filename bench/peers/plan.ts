/** How much of each scenario a run does. */
export interface Plan {
  readonly warmUpSeconds: number
  /** Turns that each target has of each load. */
  readonly turns: number
  readonly turnSeconds: number
  readonly promptTokens: readonly number[]
  readonly promptTurns: number
  readonly streams: readonly number[]
  readonly pacedSeconds: number
  readonly killSeconds: number
}

/** Of the 50 events a second that a stream has: where fewer arrive, the target does not hold so many streams. */
export const STREAM_EVENTS_MIN = 45

export const STANDARD: Plan = {
  warmUpSeconds: 4,
  turns: 4,
  turnSeconds: 2,
  promptTokens: [1_000, 10_000, 100_000],
  promptTurns: 3,
  streams: [100, 400, 1_000, 2_000],
  pacedSeconds: 5,
  killSeconds: 6,
}

export const QUICK: Plan = {
  warmUpSeconds: 1,
  turns: 1,
  turnSeconds: 1,
  promptTokens: [10_000],
  promptTurns: 1,
  streams: [50],
  pacedSeconds: 1,
  killSeconds: 3,
}
