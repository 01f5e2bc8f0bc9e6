/**
 * The calls of this node that hold money. Long calls write checkpoints to their hold, so that another node can charge
 * the delivered output if this one dies. Short calls cost no write.
 */
import type { Checkpoint } from '../../money/ledger/lane/ledger-fields.ts'
import type { Client } from './client.ts'

export interface RunningCall {
  /** The hold survives a crash of the database: its commit, or that of a later checkpoint, was flushed to disk. */
  readonly isHoldDurable: boolean
  /** Resolves with true once the hold is durable, or with false after `timeoutMs`. For one waiter at a time. */
  whenDurable(timeoutMs: number): Promise<boolean>
  /** The epoch of the lease under which its hold was taken. */
  readonly epoch: number
  /** Part of the answer was sent to the client. */
  isDelivered: boolean
  /** Output tokens seen so far: the last argument of `sawOutput`. */
  readonly tokens: number
  /** Records the output tokens seen so far by our own count. */
  sawOutput(tokens: number): void
  /** Ends the call after its hold was resolved, or its resolution was handed to the ledger. */
  end(): void
}

export interface RunningCaller {
  readonly keyId: string
  readonly client: Pick<Client, 'cutOff'>
}

export interface RunningCalls {
  begin(
    hold: { id: string; customerId: string; epoch: number; caller?: RunningCaller },
    isHoldDurable: boolean,
  ): RunningCall
  /** The keys with running calls. */
  keyIds(): string[]
  /** Cuts off the clients of the calls of these keys. */
  cutOff(keyIds: ReadonlySet<string>): void
  /** The holds of all calls that run now. */
  ids(): ReadonlySet<string>
  readonly size: number
  /** The age of the oldest call; 0 if none is running. */
  oldestMs(): number
  /** Takes the due checkpoints: the first one of calls older than 100 ms, and later ones for new output. */
  takeDueCheckpoints(): Checkpoint[]
  /** Records that these checkpoints were committed durably. */
  recordDurable(checkpoints: readonly Checkpoint[]): void
  /** Resolves when no call is running, or after `timeoutMs`. */
  whenNone(timeoutMs: number): Promise<void>
}

/** The age of a call at its first checkpoint, and the interval of the later ones. */
const FIRST_CHECKPOINT_MS = 100
const NEXT_CHECKPOINT_MS = 3_000
/** After this time a checkpoint without confirmation is written again. */
const UNCONFIRMED_CHECKPOINT_MS = 500

/** Has no getters, for the reason given at `Client`. */
interface State extends RunningCall {
  isHoldDurable: boolean
  /** Ends the wait of `whenDurable`. */
  wake: (() => void) | undefined
  readonly customerId: string
  readonly caller: RunningCaller | undefined
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
    // The last checkpoint was lost, or skipped because its hold was locked.
    if (!state.isHoldDurable && nowMs - state.checkpointedAtMs >= UNCONFIRMED_CHECKPOINT_MS)
      return true
    // Output began: checkpoint at once, because from now on the prompt is owed.
    if (state.tokensCheckpointed === 0 && state.tokens > 0) return true
    return (
      state.tokens > state.tokensCheckpointed &&
      nowMs - state.checkpointedAtMs >= NEXT_CHECKPOINT_MS
    )
  }

  return {
    begin({ id: holdId, customerId, epoch, caller }, isHoldDurable) {
      const state: State = {
        isHoldDurable,
        wake: undefined,
        whenDurable(timeoutMs) {
          if (state.isHoldDurable) return Promise.resolve(true)
          return new Promise((resolve) => {
            const timer = setTimeout(() => resolve(state.isHoldDurable), timeoutMs)
            state.wake = () => {
              clearTimeout(timer)
              resolve(true)
            }
          })
        },
        epoch,
        isDelivered: false,
        customerId,
        caller,
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
    keyIds: () => [...new Set([...states.values()].flatMap(({ caller }) => caller?.keyId ?? []))],
    cutOff(keyIds) {
      for (const { caller } of states.values())
        if (caller && keyIds.has(caller.keyId)) caller.client.cutOff()
    },
    ids: () => new Set(states.keys()),
    get size() {
      return states.size
    },
    oldestMs() {
      // A map keeps the order in which its entries came.
      const [oldest] = states.values()
      return oldest ? now() - oldest.beganAtMs : 0
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
    recordDurable(checkpoints) {
      for (const { id } of checkpoints) {
        const state = states.get(id)
        if (!state) continue
        state.isHoldDurable = true
        state.wake?.()
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
