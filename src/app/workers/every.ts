import type { Log } from '../../platform/lib/log.ts'

export interface Timer {
  readonly state: TimerState
  /** Runs now, or once more after the current run. */
  wake(): void
  stop(): Promise<void>
}

/** The results of its runs in this process. */
export interface TimerState {
  readonly name: string
  readonly everyMs: number
  readonly lastDoneAt: Date | null
  readonly lastFailedAt: Date | null
  readonly failuresInRow: number
}

/** Runs one at a time; a failure is logged, and the next run follows as scheduled. */
export function every(ms: number, name: string, log: Log, run: () => Promise<unknown>): Timer {
  let running: Promise<unknown> | undefined
  let isWoken = false
  let state: TimerState = {
    name,
    everyMs: ms,
    lastDoneAt: null,
    lastFailedAt: null,
    failuresInRow: 0,
  }
  const turn = (): void => {
    running ??= run()
      .then(
        () => (state = { ...state, lastDoneAt: new Date(), failuresInRow: 0 }),
        (error: unknown) => {
          const failuresInRow = state.failuresInRow + 1
          state = { ...state, lastFailedAt: new Date(), failuresInRow }
          log.warn('worker_failed', { name, error })
        },
      )
      .finally(() => {
        running = undefined
        if (isWoken) wake()
      })
  }
  const wake = (): void => {
    isWoken = running !== undefined
    turn()
  }
  const timer = setInterval(turn, ms)
  return {
    get state() {
      return state
    },
    wake,
    async stop() {
      isWoken = false
      clearInterval(timer)
      await running
    },
  }
}
