/**
 * A share of what there is only so much of at once: bytes in memory, calls at once, places on a disk. Each owner (a
 * customer, or the address of a caller whose customer is unknown) has a limit, and all owners together another.
 *
 * What is taken is held by an object that gives it back when it is disposed of. Whoever takes it disposes of it on every
 * path, or hands it to somebody who does.
 */
import type { Pace } from './rate.ts'

export interface Share {
  /** Holds this much for the owner; the limit that is reached if there is no room. `ownMax`: for another limit. */
  take(owner: string, amount?: number, ownMax?: number): Held | Excess
  /** Holds what is there already, also beyond the limits. */
  add(owner: string, amount: number): Held
  /** Holds nothing at first, for what arrives part by part. */
  open(owner: string): Held
  /** The limit that so much would reach now. */
  findExcess(owner: string, amount?: number, ownMax?: number): Excess | undefined
  /** The limit of an owner without another one. */
  readonly ownMax: number
  /** What all owners hold in this process. */
  readonly taken: number
}

/** The limit that is reached: that of the owner, or that of all. */
export type Excess = 'own' | 'all'

/**
 * A part of a share that is held. Disposed of, it holds nothing for ever: what a work takes that goes on unnoticed would
 * never be given back.
 */
export interface Held extends Disposable {
  readonly amount: number
  /** Holds more, or nothing more and returns the limit that is reached; `own` once it was disposed of. */
  take(amount: number): Excess | undefined
}

export interface ShareLimits {
  readonly ownMax: number
  /** Without it, owners are limited alone. */
  readonly allMax?: number
}

/**
 * Limits what each owner holds, and what all hold in this process. With `shared`, what an owner holds in other
 * processes counts for its own limit.
 */
export function createShare(
  { ownMax, allMax = Infinity }: ShareLimits,
  shared: SharedRunning = NOTHING_ELSEWHERE,
): Share {
  const own = new Map<string, number>()
  let all = 0

  function put(owner: string, amount: number): void {
    const held = (own.get(owner) ?? 0) + amount
    if (held > 0) own.set(owner, held)
    else own.delete(owner)
    all += amount
    shared.changed(owner, held)
  }

  function findExcess(owner: string, amount = 1, max = ownMax): Excess | undefined {
    if ((own.get(owner) ?? 0) + shared.elsewhere(owner) + amount > max) return 'own'
    return all + amount > allMax ? 'all' : undefined
  }

  const shelf: Shelf = { put, findExcess }

  function open(owner: string, amount = 0): Held {
    if (amount !== 0) put(owner, amount)
    return new Holding(shelf, owner, amount)
  }

  return {
    take: (owner, amount = 1, max = ownMax) =>
      findExcess(owner, amount, max) ?? open(owner, amount),
    add: open,
    open: (owner) => open(owner),
    findExcess,
    ownMax,
    get taken() {
      return all
    },
  }
}

interface Shelf {
  put(owner: string, amount: number): void
  findExcess(owner: string, amount: number): Excess | undefined
}

/** A class, because each call has some: their methods are not made anew. */
class Holding implements Held {
  amount: number
  readonly #shelf: Shelf
  readonly #owner: string
  #isOver = false

  constructor(shelf: Shelf, owner: string, amount: number) {
    this.#shelf = shelf
    this.#owner = owner
    this.amount = amount
  }

  take(amount: number): Excess | undefined {
    const excess = this.#isOver ? 'own' : this.#shelf.findExcess(this.#owner, amount)
    if (excess) return excess
    this.#shelf.put(this.#owner, amount)
    this.amount += amount
    return undefined
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    if (this.amount === 0) return
    this.#shelf.put(this.#owner, -this.amount)
    this.amount = 0
  }
}

/**
 * Counts bytes that have arrived, before they are kept; false if there is no room for them. A promise makes their sender
 * wait, which spreads large amounts over time.
 */
export type TakeBytes = (bytes: number) => boolean | Promise<boolean>

/** Counts bytes as held, each at the pace of their owner; refused ones do not wait. */
export function takeAtPace(held: Held, pace: Pace, owner: string): TakeBytes {
  return (bytes) => {
    if (held.take(bytes)) return false
    return pace.wait(owner, bytes)?.then(() => true) ?? true
  }
}

/** Takes only the bytes after the first ones, which are counted elsewhere or need not be counted. */
export function beyond(bytesFree: number, takeBytes: TakeBytes): TakeBytes {
  let left = bytesFree
  return (bytes) => {
    const free = Math.min(left, bytes)
    left -= free
    return bytes === free || takeBytes(bytes - free)
  }
}

/**
 * How many works of a subject run at once in all processes of a server: each process sends its own counts to the others,
 * `AFTER_MS` after a change, so a limit over them all can be passed by what begins within that time.
 */
export interface SharedRunning {
  /** Records how many run in this process now. */
  changed(subject: string, own: number): void
  /** How many run in the other processes, as far as is known. */
  elsewhere(subject: string): number
}

export type RunningCounts = readonly (readonly [subject: string, own: number])[]

export interface RunningExchange {
  /** One kind of subject; the names of two kinds never meet. */
  of(kind: string): SharedRunning
  /** The counts of another process; each replaces the previous count of its subject. */
  receive(from: string, counts: RunningCounts): void
  /** The other process has ended, so nothing runs there. */
  forget(from: string): void
  /** Sends all counts, for a process that is new. */
  sendAll(): void
}

export const NOTHING_ELSEWHERE: SharedRunning = { changed() {}, elsewhere: () => 0 }

const AFTER_MS = 20

export function createRunningExchange(send: (counts: RunningCounts) => void): RunningExchange {
  const own = new Map<string, number>()
  const others = new Map<string, Map<string, number>>()
  const dirty = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    timer = undefined
    const counts = [...dirty].map((subject) => [subject, own.get(subject) ?? 0] as const)
    dirty.clear()
    if (counts.length > 0) send(counts)
  }

  function note(subject: string): void {
    dirty.add(subject)
    timer ??= setTimeout(flush, AFTER_MS).unref()
  }

  return {
    of: (kind) => ({
      changed(subject, count) {
        const name = `${kind} ${subject}`
        if (count === 0) own.delete(name)
        else own.set(name, count)
        note(name)
      },
      elsewhere(subject) {
        const name = `${kind} ${subject}`
        let sum = 0
        for (const counts of others.values()) sum += counts.get(name) ?? 0
        return sum
      },
    }),
    receive(from, counts) {
      const known = others.get(from) ?? new Map<string, number>()
      others.set(from, known)
      for (const [subject, count] of counts) {
        if (count === 0) known.delete(subject)
        else known.set(subject, count)
      }
    },
    forget: (from) => void others.delete(from),
    sendAll() {
      for (const subject of own.keys()) note(subject)
    },
  }
}
