/** Runs the work of several nodes one await at a time, in an order that a seed decides; a node may be suspended. */
import { setImmediate as turn } from 'node:timers/promises'
import { Kysely, PostgresDialect, type Driver, type PostgresDialectConfig } from 'kysely'
import type { Tables } from '../../../src/platform/db/tables.ts'
import type { Database } from '../../../src/platform/db/open.ts'

export interface Waiter {
  readonly node: number
  readonly at: string
  goOn(): void
}

export class Schedule {
  readonly waiting: Waiter[] = []
  readonly suspended = new Set<number>()
  #busy = 0
  #moves = 0

  /** Where the code of a node awaits something; it goes on when the schedule says so. */
  pause(node: number, at: string): Promise<void> {
    this.#moves += 1
    return new Promise((goOn) => this.waiting.push({ node, at, goOn }))
  }

  /** Ends all work of a node. */
  drop(node: number): void {
    this.suspended.delete(node)
    for (const waiter of this.waiting.filter((one) => one.node === node))
      this.waiting.splice(this.waiting.indexOf(waiter), 1)
  }

  /** The waiters of nodes that run. */
  ready(): Waiter[] {
    return this.waiting.filter(({ node }) => !this.suspended.has(node))
  }

  async goOn(waiter: Waiter): Promise<void> {
    this.waiting.splice(this.waiting.indexOf(waiter), 1)
    waiter.goOn()
    await this.settle()
  }

  /** Work that awaits something else than the schedule. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#busy += 1
    try {
      return await work()
    } finally {
      this.#busy -= 1
      this.#moves += 1
    }
  }

  /** Until everything that goes on awaits again or has ended. */
  async settle(): Promise<void> {
    for (let quiet = 0, moves = this.#moves; quiet < 3;) {
      await turn()
      if (this.#busy > 0 || moves !== this.#moves) quiet = 0
      else quiet += 1
      moves = this.#moves
    }
  }

  /** The database of one node: each statement outside of a transaction, and each transaction, waits before and after. */
  openNode(node: number, pool: PostgresDialectConfig['pool']): Database {
    const base = new PostgresDialect({ pool })
    const createDriver = (): Driver => {
      const driver = base.createDriver()
      const acquire = driver.acquireConnection.bind(driver)
      const release = driver.releaseConnection.bind(driver)
      driver.acquireConnection = async () => {
        await this.pause(node, 'before a statement')
        this.#busy += 1
        this.#moves += 1
        return acquire()
      }
      driver.releaseConnection = async (connection) => {
        await release(connection)
        this.#busy -= 1
        await this.pause(node, 'after a statement')
      }
      return driver
    }
    return new Kysely<Tables>({
      dialect: {
        createDriver,
        createAdapter: () => base.createAdapter(),
        createIntrospector: (db) => base.createIntrospector(db),
        createQueryCompiler: () => base.createQueryCompiler(),
      },
    })
  }
}
