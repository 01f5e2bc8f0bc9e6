/** Lets a few take turns, one of each owner at a time: the owners come round, however many works one of them has. */
export interface FairTurns {
  /** Resolves to the function that ends the turn; undefined if too many works of the owner wait. */
  take(owner: string): Promise<EndTurn> | undefined
}

/** `amount`: of the work that was done. The owner's next turn comes when its pace allows it. */
export type EndTurn = (amount: number) => void

export interface FairTurnsLimits {
  readonly atOnceMax: number
  /** Of one owner. */
  readonly waitingMax: number
  /** The pace of one owner. */
  readonly ownPerSecond: number
}

/** A smaller pause is not worth a timer. */
const PAUSE_MS_MIN = 16

export function createFairTurns({
  atOnceMax,
  waitingMax,
  ownPerSecond,
}: FairTurnsLimits): FairTurns {
  /** Of each owner that waits, in the order of their turns. */
  const waiting = new Map<string, ((end: EndTurn) => void)[]>()
  /** Owners whose turn it is, or whose pause is not over. */
  const busy = new Set<string>()
  let taken = 0

  function begin(owner: string): EndTurn {
    taken += 1
    busy.add(owner)
    let hasEnded = false
    return (amount) => {
      if (hasEnded) return
      hasEnded = true
      taken -= 1
      const pauseMs = (amount / ownPerSecond) * 1_000
      if (pauseMs < PAUSE_MS_MIN) busy.delete(owner)
      else setTimeout(() => endPause(owner), pauseMs).unref()
      passOn()
    }
  }

  function endPause(owner: string): void {
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
