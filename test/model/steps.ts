/**
 * The vocabulary of schedules, as data. Amounts are tokens of the test model: one token bills `NANO_BRL_PER_TOKEN`.
 * A step without its subject (a call that was not held, a dead node) does nothing, so that any part of a schedule
 * is a schedule.
 */

/**
 * The keys that every customer has: one with a budget, one of a team with a cap, one with both, and one whose calls are
 * one task with a cap.
 */
export const KEYS = ['plain', 'budget', 'team', 'both', 'task'] as const
export type KeyName = (typeof KEYS)[number]

export interface CustomerSpec {
  readonly balance: number
  /** The budget of each key that has one. */
  readonly budget: number
  /** The cap of the team; null: the team is counted without a cap. */
  readonly cap: number | null
  /** The cap of the task. */
  readonly task: number
}

/** Steps of the calls. The node of a call is the one that took its hold. */
export type CallStep =
  | {
      readonly kind: 'hold'
      readonly call: number
      readonly node: number
      readonly customer: number
      readonly key: KeyName
      readonly tokens: number
      readonly isStream: boolean
    }
  /** A checkpoint of running calls: each has generated this many tokens, limited by its hold. */
  | { readonly kind: 'checkpoint'; readonly calls: readonly number[]; readonly seen: number }
  /** The answer is complete: charged for this many tokens, limited by its hold, and delivered. */
  | { readonly kind: 'settle'; readonly call: number; readonly tokens: number }
  | { readonly kind: 'release'; readonly call: number }
  /** A refused call that only counts; without a customer it named no key. */
  | {
      readonly kind: 'count'
      readonly node: number
      readonly customer: number | null
      readonly key: KeyName
    }

/** Steps of others on the customer's money, over a healthy connection. */
export type MoneyStep =
  | {
      readonly kind: 'credit' | 'debit'
      readonly customer: number
      readonly tokens: number
      /** A number that was used before repeats that entry. */
      readonly reference: number
    }
  | { readonly kind: 'revoke'; readonly customer: number; readonly key: KeyName }
  | { readonly kind: 'change_budget'; readonly customer: number; readonly tokens: number }
  | { readonly kind: 'change_cap'; readonly customer: number; readonly tokens: number | null }

export type Direction = 'to_server' | 'to_client' | 'both'

/** Steps of nodes: breaking, healing, and what nodes do to each other. */
export type NodeStep =
  /** It sends no heartbeat until it returns; everything else continues. */
  | { readonly kind: 'silence' | 'return'; readonly node: number }
  /** Moves all clocks forward, and with them the age of every heartbeat. */
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'reconcile' | 'replay'; readonly node: number }
  /** The process dies some turns of its event loop after this round began; a new one starts on its disk. */
  | { readonly kind: 'crash'; readonly node: number; readonly turns: number }
  /** No byte passes in this direction, and neither side notices. */
  | { readonly kind: 'freeze'; readonly node: number; readonly direction: Direction }
  /** Connections break and new ones fail; `arrives`: bytes on their way to the server still arrive. */
  | {
      readonly kind: 'cut'
      readonly node: number
      readonly arrives: boolean
      readonly turns: number
    }
  /** Heals frozen and cut connections. */
  | { readonly kind: 'heal'; readonly node: number }
  /** The disk of the spool accepts this many more bytes. */
  | { readonly kind: 'fill_disk'; readonly node: number; readonly bytes: number }
  | { readonly kind: 'empty_disk'; readonly node: number }
  /** Sets the clock of the node's machine; no other clock changes. */
  | { readonly kind: 'step_clock'; readonly node: number; readonly seconds: number }

export type Step = CallStep | MoneyStep | NodeStep

/** Its steps are issued together, in this order; the next round begins when they are answered. */
export interface Round {
  /** The calls of a node in this round share one batch of each lane. */
  readonly isTogether: boolean
  readonly steps: readonly Step[]
}

export interface Schedule {
  readonly customers: readonly CustomerSpec[]
  readonly rounds: readonly Round[]
}

/** One line for each round, for the report. */
export function describeSchedule({ customers, rounds }: Schedule): string {
  const lines = customers.map(
    ({ balance, budget, cap }, index) =>
      `customer ${index}: balance ${balance}, budget ${budget}, cap ${cap ?? 'none'}`,
  )
  rounds.forEach(({ isTogether, steps }, index) => {
    const texts = steps.map((step) => {
      const { kind, ...rest } = step
      return `${kind} ${JSON.stringify(rest).replaceAll('"', '')}`
    })
    lines.push(`round ${index}${isTogether ? ' (one batch)' : ''}: ${texts.join('; ')}`)
  })
  return lines.join('\n')
}
