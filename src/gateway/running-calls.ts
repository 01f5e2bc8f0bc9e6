/**
 * The calls of this node that hold money. Long ones are checkpointed on their hold, so that another
 * node can charge what was delivered if this one dies; short ones never cost a write.
 */
import type { Checkpoint } from '../ledger/lane/lane-work.ts'

export interface RunningCall {
  /** The hold would survive a crash of the database: its commit waited for the disk, or a later checkpoint's did. */
  readonly isKept: boolean
  /** Of the lease under which its hold was taken. */
  readonly epoch: number
  /** Something of the answer is with the client. */
  isDelivered: boolean
  /** Output tokens seen so far, as we count them: the last argument of `sawOutput`. */
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
  /** The checkpoints that are due: of calls older than a moment without one, and of calls with new output. */
  takeDueCheckpoints(): Checkpoint[]
  /** These checkpoints are on their holds, and on the disk. */
  noteKept(checkpoints: readonly Checkpoint[]): void
  /** Resolves when no call runs, or after `timeoutMs`. */
  whenNone(timeoutMs: number): Promise<void>
}

/** The age of a call at its first checkpoint, and the time between its later ones. */
const FIRST_CHECKPOINT_MS = 100
const NEXT_CHECKPOINT_MS = 3_000
/** When a checkpoint that was not confirmed is tried again. */
const LOST_CHECKPOINT_MS = 500

/** Without getters, see `Client`. */
interface State extends RunningCall {
  isKept: boolean
  readonly customerId: string
  readonly beganAtMs: number
  checkpointedAtMs: number | undefined
  tokens: number
  tokensCheckpointed: number
}

export function createRunningCalls(now: () => number = () => performance.now()): RunningCalls {
  const states = new Map<string, State>()
  let waiters: (() => void)[] = []

  function isDue(state: State, nowMs: number): boolean {
    if (state.checkpointedAtMs === undefined) return nowMs - state.beganAtMs >= FIRST_CHECKPOINT_MS
    // The last one was lost, or met the hold while it was locked.
    if (!state.isKept && nowMs - state.checkpointedAtMs >= LOST_CHECKPOINT_MS) return true
    // The first output is worth knowing at once: from then on the prompt is owed.
    if (state.tokensCheckpointed === 0 && state.tokens > 0) return true
    return (
      state.tokens > state.tokensCheckpointed &&
      nowMs - state.checkpointedAtMs >= NEXT_CHECKPOINT_MS
    )
  }

  return {
    begin({ id: holdId, customerId, epoch }, isKept) {
      const state: State = {
        isKept,
        epoch,
        isDelivered: false,
        customerId,
        beganAtMs: now(),
        checkpointedAtMs: undefined,
        tokens: 0,
        tokensCheckpointed: 0,
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
    takeDueCheckpoints() {
      const nowMs = now()
      const due: Checkpoint[] = []
      for (const [id, state] of states) {
        if (!isDue(state, nowMs)) continue
        state.checkpointedAtMs = nowMs
        state.tokensCheckpointed = state.tokens
        due.push({ id, customerId: state.customerId, outputTokensSeen: state.tokens })
      }
      return due
    },
    noteKept(checkpoints) {
      for (const { id } of checkpoints) {
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
