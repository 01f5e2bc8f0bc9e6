/**
 * A turn is the processor's time, in the order of owners: who waits comes round, however many works one owner has. Long
 * works of this process are done in slices of a few milliseconds, between which others are served.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Lets a few take turns, one of each owner at a time. */
export interface Turns {
  /** Resolves when the turn has come; undefined if too many works of the owner wait. */
  take(owner: unknown): Promise<Turn> | undefined
}

/** Ends when it is disposed of; the next one of its owner comes when the owner's pace allows it. */
export interface Turn extends Disposable {
  /** What was done in it. */
  amount: number
}

export interface TurnsLimits {
  readonly atOnceMax: number
  /** Of one owner. */
  readonly waitingMax?: number
  /** The pace of one owner. */
  readonly ownPerSecond?: number
}

/** A smaller pause is not worth a timer. */
const PAUSE_MS_MIN = 16

export function createTurns({
  atOnceMax,
  waitingMax = Infinity,
  ownPerSecond = Infinity,
}: TurnsLimits): Turns {
  /** Of each owner that waits, in the order of their turns. */
  const waiting = new Map<unknown, ((turn: Turn) => void)[]>()
  /** Owners whose turn it is, or whose pause is not over. */
  const busy = new Set<unknown>()
  let taken = 0

  function begin(owner: unknown): Turn {
    taken += 1
    busy.add(owner)
    let hasEnded = false
    return {
      amount: 0,
      [Symbol.dispose]() {
        if (hasEnded) return
        hasEnded = true
        taken -= 1
        const pauseMs = (this.amount / ownPerSecond) * 1_000
        if (pauseMs < PAUSE_MS_MIN) busy.delete(owner)
        else setTimeout(() => endPause(owner), pauseMs).unref()
        passOn()
      },
    }
  }

  function endPause(owner: unknown): void {
    busy.delete(owner)
    passOn()
  }

  function passOn(): void {
    for (const [owner, works] of waiting) {
      if (taken >= atOnceMax) return
      if (busy.has(owner)) continue
      const next = works.shift()
      waiting.delete(owner)
      // Behind all others.
      if (works.length > 0) waiting.set(owner, works)
      next?.(begin(owner))
    }
  }

  return {
    take(owner) {
      if (taken < atOnceMax && !busy.has(owner)) return Promise.resolve(begin(owner))
      const works = waiting.get(owner) ?? []
      if (works.length >= waitingMax) return undefined
      waiting.set(owner, works)
      return new Promise((resolve) => works.push(resolve))
    },
  }
}

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
  const turns = createTurns({ atOnceMax: 1 })
  const end = (turn: Turn): void => turn[Symbol.dispose]()
  return async (step) => {
    while (true) {
      // Each work is its own owner.
      setImmediate(end, (await turns.take(step)) as Turn)
      const endsAt = now() + SLICE_MS
      do if (!step()) return
      while (now() < endsAt)
    }
  }
}

/** Does one long work in slices, for itself: the event loop serves others between them. */
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
