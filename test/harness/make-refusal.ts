import type { Refusal } from '../../src/gateway/calls/refusal.ts'

const LACK = { neededNanoBrl: 1n, freeNanoBrl: 1n, heldNanoBrl: 1n }
const FACTS: Readonly<Record<string, readonly unknown[]>> = {
  insufficientBalance: [{ teamId: null }, LACK],
  balanceOnHold: [LACK],
  modelNotFound: ['a', ['b']],
}

/** A refusal of the table `refusals`, with some facts. */
export function makeRefusal([name, make]: [string, (...facts: never[]) => Refusal]): Refusal {
  return make(...((FACTS[name] ?? ['a', 'b', 'c']) as never[]))
}
