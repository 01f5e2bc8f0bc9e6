/**
 * Whether the observed answers of one customer have a sequential explanation. Operations that were under way
 * at the same time may take effect in any order; one that was answered has taken effect by then, with this answer;
 * one whose answer was lost may take effect at any time from then on, or never.
 *
 * Kept are all states that the ledger may be in. None left: no order explains the answers.
 */
import { apply, type CustomerState, type Operation } from './reference-ledger.ts'

interface Pending {
  operation: Operation
  /** The answers that fit; undefined: not answered yet. */
  outcomes: readonly string[] | undefined
  /** It will not be answered. */
  isLost: boolean
}

interface Possibility {
  readonly state: CustomerState
  /** The numbers of the operations without an effect in this state. */
  readonly pending: readonly number[]
  /** Operations that took effect before their answer, and the answer they must give. */
  readonly owed: readonly (readonly [id: number, outcome: string])[]
}

export interface History {
  /** Returns the number of the operation. */
  begin(operation: Operation): number
  /** It took effect before this moment, with one of these answers. */
  answered(id: number, outcomes: readonly string[]): void
  /** It will not be answered; it may have been this operation, or become it. */
  lost(id: number, operation?: Operation): void
  /** Ends a round: operations that are answered by now precede the ones that begin later. */
  endRound(): void
  /** The possible states. Empty: the last answers fit none of the states before the round. */
  readonly states: readonly CustomerState[]
  /** Too many concurrent operations to search their orders; only the promises are checked. */
  readonly isTooWide: boolean
  /** For the report: the operations of the round that no order explains, or of the last round. */
  readonly lastRound: readonly string[]
}

/** A round with more operations is not searched. */
const POSSIBILITIES_MAX = 4_000

export function createHistory(initial: CustomerState): History {
  const operations: Pending[] = []
  let possible: Possibility[] = [{ state: initial, pending: [], owed: [] }]
  let begun: number[] = []
  let lastRound: string[] = []
  let isTooWide = false

  function endRound(): void {
    if (possible.length === 0 || isTooWide) return
    const open = new Set([
      ...possible.flatMap(({ pending, owed }) => [...pending, ...owed.map(([id]) => id)]),
      ...begun,
    ])
    lastRound = [...open].map((id) => describe(operations[id] as Pending))
    const isAllAnswered = [...open].every((id) => operations[id]?.outcomes !== undefined)
    // Of two changes of one limit with the same answer, the last one counts.
    const changes = [...open].filter((id) => operations[id]?.operation.kind.startsWith('change_'))
    const found: Possibility[] = []
    const seen = new Set<string>()
    const stack = possible.flatMap((one): Possibility[] => {
      const owed = paid(one)
      return owed ? [{ state: one.state, pending: [...one.pending, ...begun], owed }] : []
    })
    for (let next = stack.pop(); next; next = stack.pop()) {
      const key = JSON.stringify(next)
      if (seen.has(key)) continue
      seen.add(key)
      if (seen.size > POSSIBILITIES_MAX) {
        isTooWide = true
        return
      }
      if (next.pending.every((id) => operations[id]?.outcomes === undefined)) {
        found.push(next)
        // The answers determine the effect of each operation, so all orders that explain them have the same sums.
        if (isAllAnswered && changes.length < 2 && possible.length === 1) break
      }
      stack.push(...continuations(next).toReversed())
    }
    possible = found
    begun = []
  }

  /** The operations that may take effect next, in the order in which they began. */
  function continuations({ state, pending, owed }: Possibility): Possibility[] {
    return pending.flatMap((id) => {
      const { operation, outcomes, isLost } = operations[id] as Pending
      const applied = apply(state, operation)
      if (outcomes && !outcomes.includes(applied.outcome)) return []
      // An operation without an answer and without an effect may be left out.
      if (isLost && applied.state === state) return []
      const isOwed = !outcomes && !isLost
      return [
        {
          state: applied.state,
          pending: pending.filter((other) => other !== id),
          owed: isOwed ? [...owed, [id, applied.outcome] as const] : owed,
        },
      ]
    })
  }

  /** The answers that are still due; undefined if one contradicts them. */
  function paid({ owed }: Possibility): Possibility['owed'] | undefined {
    const isOther = owed.some(([id, outcome]) => {
      const { outcomes, isLost } = operations[id] as Pending
      return !isLost && outcomes !== undefined && !outcomes.includes(outcome)
    })
    if (isOther) return undefined
    return owed.filter(([id]) => {
      const { outcomes, isLost } = operations[id] as Pending
      return !isLost && outcomes === undefined
    })
  }

  return {
    begin(operation) {
      begun.push(operations.length)
      return operations.push({ operation, outcomes: undefined, isLost: false }) - 1
    },
    answered(id, outcomes) {
      ;(operations[id] as Pending).outcomes = outcomes
    },
    lost(id, operation) {
      const pending = operations[id] as Pending
      pending.operation = operation ?? pending.operation
      pending.isLost = true
    },
    endRound,
    get states() {
      return possible.map(({ state }) => state)
    },
    get isTooWide() {
      return isTooWide
    },
    get lastRound() {
      return lastRound
    },
  }
}

function describe({ operation, outcomes }: Pending): string {
  return `${JSON.stringify(operation).replaceAll('"', '')} -> ${outcomes?.join(' or ') ?? 'not answered'}`
}
