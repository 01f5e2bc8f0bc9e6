/** A position in the log of changes, in bytes. */
export type Position = bigint

interface Moment {
  readonly position: Position
  readonly atMs: number
}

const MOMENTS_MAX = 1_000

/**
 * How old the data of a replica is, by this process's clock alone: it remembers when the primary was at which position,
 * and the replica has all that was committed before the newest moment whose position it has replayed. The time of the
 * last replayed transaction, which PostgreSQL offers, grows on an idle database without any lag.
 */
export class ReplicaLag {
  /** In ascending order, of those that the replica has not replayed yet. */
  #moments: Moment[] = []
  #knownMs: number | undefined
  #replayed: Moment = { position: 0n, atMs: 0 }
  #isAhead = false

  /**
   * The replica had changes that the primary never had: it follows another history, such as that of a primary that was
   * replaced before all of its changes had reached the new one. Positions say nothing about such a replica, also when
   * the primary has passed it, so this holds until the replica is another one.
   */
  get isAhead(): boolean {
    return this.#isAhead
  }

  /** `atMs` is before the primary was asked. */
  primaryAt(position: Position, atMs: number): void {
    const last = this.#moments.at(-1)
    // After a fail-over that lost changes, older positions mean something else.
    if (last && position < last.position) this.#forget()
    // A primary sends only what it has flushed itself.
    if (position < this.#replayed.position && this.#replayed.atMs <= atMs) {
      this.#forget()
      this.#isAhead = true
    }
    this.#moments.push({ position, atMs })
    if (this.#moments.length > MOMENTS_MAX) this.#thinOut()
  }

  /** `atMs` is after the replica answered. */
  replicaAt(position: Position, atMs: number): void {
    // Started again, it may show less than before for a moment; or it is another one.
    if (position < this.#replayed.position) {
      this.#knownMs = undefined
      this.#isAhead = false
    }
    this.#replayed = { position, atMs }
    if (this.#isAhead) return
    const reached = this.#moments.findLastIndex((moment) => moment.position <= position)
    if (reached < 0) return
    const { atMs: knownMs } = this.#moments[reached] as Moment
    this.#knownMs = Math.max(knownMs, this.#knownMs ?? knownMs)
    this.#moments.splice(0, reached + 1)
  }

  /** Undefined while the replica has not reached the first known position. */
  ageMs(nowMs: number): number | undefined {
    return this.#knownMs === undefined ? undefined : Math.max(0, nowMs - this.#knownMs)
  }

  /** Another replica may answer at this address from now on. */
  replicaLeft(): void {
    if (!this.#isAhead) return
    this.#forget()
    this.#isAhead = false
    this.#replayed = { position: 0n, atMs: 0 }
  }

  /** Evenly, so that a replica that has stood still for long is not taken for much older than it is. */
  #thinOut(): void {
    const [first, last] = [this.#moments[0], this.#moments.at(-1)] as [Moment, Moment]
    const apartMs = (last.atMs - first.atMs) / (MOMENTS_MAX / 2)
    let keptMs = -Infinity
    this.#moments = this.#moments.filter((moment) => {
      if (moment !== last && moment.atMs - keptMs < apartMs) return false
      keptMs = moment.atMs
      return true
    })
  }

  #forget(): void {
    this.#moments = []
    this.#knownMs = undefined
  }
}
