/**
 * The calls of this node that hold money. Long ones are checkpointed on their hold, so that another
 * node can charge what was delivered if this one dies; short ones never cost a write.
 */
import type { Mark } from '../ledger/lane-work.ts'

export interface RunningCall {
  /** Its hold would survive a crash of the database: it was taken so, or a mark was found to be on it. */
  readonly isKept: boolean
  /** Of the lease under which its hold was taken. */
  readonly epoch: number
  /** Something of the answer is with the client. */
  isDelivered: boolean
  /** Output tokens seen so far, as counted by us: what `sawOutput` was last told. */
  readonly tokens: number
  /** Output tokens seen so far, as counted by us. */
  sawOutput(tokens: number): void
  /** The hold is resolved, or on its way to be. */
  end(): void
}

export interface RunningCalls {
  begin(hold: { id: string; customerId: string; epoch: number }, isKept: boolean): RunningCall
  has(holdId: string): boolean
  readonly size: number
  /** The marks that are due: calls not marked yet that are older than a moment, and grown ones. */
  takeDueMarks(): Mark[]
  /** These marks are on their holds, and on the disk. */
  noteKept(marks: readonly Mark[]): void
  /** Resolves when no call runs, or after `timeoutMs`. */
  whenNone(timeoutMs: number): Promise<void>
}

/** How old a call is when it is first marked, and how far apart its later marks are. */
const FIRST_MARK_MS = 100
const NEXT_MARK_MS = 3_000
/** When a checkpoint that was not confirmed is tried again. */
const LOST_MARK_MS = 500

/** Without getters, see `Client`. */
interface State extends RunningCall {
  isKept: boolean
  readonly customerId: string
  readonly beganAtMs: number
  markedAtMs: number | undefined
  tokens: number
  tokensMarked: number
}

export function createRunningCalls(now: () => number = () => performance.now()): RunningCalls {
  const states = new Map<string, State>()
  let waiters: (() => void)[] = []

  function isDue(state: State, nowMs: number): boolean {
    if (state.markedAtMs === undefined) return nowMs - state.beganAtMs >= FIRST_MARK_MS
    // The last one was lost, or met the hold while it was locked.
    if (!state.isKept && nowMs - state.markedAtMs >= LOST_MARK_MS) return true
    // The first output is worth knowing at once: from then on the prompt is owed.
    if (state.tokensMarked === 0 && state.tokens > 0) return true
    return state.tokens > state.tokensMarked && nowMs - state.markedAtMs >= NEXT_MARK_MS
  }

  return {
    begin({ id: holdId, customerId, epoch }, isKept) {
      const state: State = {
        isKept,
        epoch,
        isDelivered: false,
        customerId,
        beganAtMs: now(),
        markedAtMs: undefined,
        tokens: 0,
        tokensMarked: 0,
        sawOutput(tokens) {
          state.tokens = tokens
        },
        end() {
          states.delete(holdId)
          if (states.size > 0) return
          for (const wake of waiters) wake()
          waiters = []
        },
      }
      states.set(holdId, state)
      return state
    },
    has: (holdId) => states.has(holdId),
    get size() {
      return states.size
    },
    takeDueMarks() {
      const nowMs = now()
      const marks: Mark[] = []
      for (const [id, state] of states) {
        if (!isDue(state, nowMs)) continue
        state.markedAtMs = nowMs
        state.tokensMarked = state.tokens
        marks.push({ id, customerId: state.customerId, outputTokensSeen: state.tokens })
      }
      return marks
    },
    noteKept(marks) {
      for (const { id } of marks) {
        const state = states.get(id)
        if (state) state.isKept = true
      }
    },
    whenNone(timeoutMs) {
      if (states.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    },
  }
}
