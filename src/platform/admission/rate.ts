/**
 * A rate is a quantity over time: requests in a minute, bytes or milliseconds per second, answers in an hour. Each owner
 * has its own. A rate limiter refuses what is above it, a pace makes it wait, and a tally counts what happened anyway.
 * All count in memory: they protect a node's own resources, never money. `attempts.ts` counts over all nodes.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const MINUTE_MS = 60_000
/** About 10 MB. An attack from more networks than this in a minute needs a defence before this server. */
const OWNERS_MAX = 100_000

/**
 * When all that an owner took is given back at its rate: one time for each owner, as a leaky bucket (GCRA) needs it.
 * Beyond `OWNERS_MAX` owners within a minute, further ones are not limited.
 */
class ClearTimes {
  readonly #clearAt = new Map<string, number>()
  #sweptAt: number

  constructor(at: number) {
    this.#sweptAt = at
  }

  of(owner: string, at: number): number {
    return Math.max(at, this.#clearAt.get(owner) ?? at)
  }

  set(owner: string, clearAt: number, at: number): void {
    this.#sweep(at)
    if (this.#clearAt.size < OWNERS_MAX || this.#clearAt.has(owner))
      this.#clearAt.set(owner, clearAt)
  }

  #sweep(at: number): void {
    if (at - this.#sweptAt < MINUTE_MS) return
    this.#sweptAt = at
    for (const [owner, clear] of this.#clearAt) if (clear <= at) this.#clearAt.delete(owner)
  }
}

export interface RateLimiter {
  /**
   * Takes `cost` of what the owner may take in a minute. Returns undefined, or the whole seconds until it may; a refused
   * owner has taken nothing.
   */
  take(owner: string, perMinute: number, cost?: number): number | undefined
  /** Counts what another process of this server let the owner take: milliseconds of its minute. */
  takeElsewhere(owner: string, ms: number): void
  /** As `take`, without taking. */
  findWait(owner: string, perMinute: number, cost?: number): number | undefined
}

/** An owner may take a minute's allowance at once, and then continuously as much as the minute gives back. */
export function createRateLimiter(
  now: () => number = () => performance.now(),
  /** Is called with the milliseconds of its minute that an owner took here. */
  onTaken: (owner: string, ms: number) => void = () => {},
): RateLimiter {
  const times = new ClearTimes(now())

  function waitOf(clear: number, at: number): number | undefined {
    const ms = clear - at - MINUTE_MS
    // Sums of fractions are a little more than the minute that they make up.
    return ms > 0.001 ? Math.ceil(ms / 1_000) : undefined
  }

  return {
    take(owner, perMinute, cost = 1) {
      const at = now()
      const ms = (MINUTE_MS / perMinute) * Math.min(cost, perMinute)
      const clear = times.of(owner, at) + ms
      const wait = waitOf(clear, at)
      if (wait !== undefined) return wait
      times.set(owner, clear, at)
      onTaken(owner, ms)
      return undefined
    },
    takeElsewhere(owner, ms) {
      const at = now()
      times.set(owner, times.of(owner, at) + ms, at)
    },
    findWait(owner, perMinute, cost = 1) {
      const at = now()
      const ms = (MINUTE_MS / perMinute) * Math.min(cost, perMinute)
      return waitOf(times.of(owner, at) + ms, at)
    },
  }
}

/** Sums of what owners took, in milliseconds of their minute, as processes tell each other. */
export type Sums = readonly (readonly [owner: string, amount: number])[]

/** Adds up amounts by owner, and sends the sums together a moment after the first of them. */
export function createSummedSender(
  send: (sums: Sums) => void,
  afterMs = 20,
): (owner: string, amount: number) => void {
  let sums = new Map<string, number>()
  return (owner, amount) => {
    if (sums.size === 0)
      setTimeout(() => {
        const taken = [...sums]
        sums = new Map()
        send(taken)
      }, afterMs).unref()
    sums.set(owner, (sums.get(owner) ?? 0) + amount)
  }
}

/** Spreads work over time: each owner within its own pace, and all owners together within another. */
export interface Pace {
  /** Resolves when this much work may begin; undefined if it may begin at once. */
  wait(owner: string, amount: number): Promise<void> | undefined
}

export function createPace(
  { perSecond, ownPerSecond }: { readonly perSecond: number; readonly ownPerSecond: number },
  now: () => number = () => performance.now(),
  pause: (ms: number) => Promise<unknown> = sleep,
): Pace {
  const times = new ClearTimes(now())
  let allClearAt = 0

  function takeOwn(owner: string, amount: number): number {
    const at = now()
    const startAt = times.of(owner, at)
    times.set(owner, startAt + (amount / ownPerSecond) * 1_000, at)
    return startAt - at
  }

  /** Called when the owner's own turn has come, so that one owner's queue delays no other. */
  function takeAll(amount: number): number {
    const at = now()
    const startAt = Math.max(at, allClearAt)
    allClearAt = startAt + (amount / perSecond) * 1_000
    return startAt - at
  }

  async function waitBoth(ownMs: number, amount: number): Promise<void> {
    await pause(ownMs)
    const ms = takeAll(amount)
    if (ms > 0) await pause(ms)
  }

  return {
    wait(owner, amount) {
      const ownMs = takeOwn(owner, amount)
      if (ownMs > 0) return waitBoth(ownMs, amount)
      const ms = takeAll(amount)
      return ms > 0 ? pause(ms).then(() => undefined) : undefined
    },
  }
}

/** Counts what happened: until the oldest of the last `max` is `withinMs` old, there may be no more. */
export interface Tally {
  note(owner: string): void
  /** The seconds until there may be more; undefined if now. */
  findWait(owner: string): number | undefined
}

/** From so many owners on, those whose times have passed are forgotten. */
const TALLIED_MAX = 10_000

export function createTally(
  { max, withinMs }: { readonly max: number; readonly withinMs: number },
  now: () => number = () => performance.now(),
): Tally {
  const times = new Map<string, number[]>()

  function recent(owner: string): number[] {
    const found = (times.get(owner) ?? []).filter((at) => at > now() - withinMs)
    if (found.length === 0) times.delete(owner)
    return found
  }

  return {
    note(owner) {
      if (times.size >= TALLIED_MAX) for (const each of times.keys()) recent(each)
      times.set(owner, [...recent(owner), now()].slice(-max))
    },
    findWait(owner) {
      const found = recent(owner)
      const [oldest] = found
      if (oldest === undefined || found.length < max) return undefined
      return Math.max(1, Math.ceil((oldest + withinMs - now()) / 1_000))
    },
  }
}
