import type { Call } from './usage-queries.ts'

/** The orders of the list by their names in the URL; without one, the newest call is the first. */
const VALUES: Readonly<Record<string, (call: Call) => number>> = {
  valor: (call) => call.cost_billed_brl,
  consumo: (call) => (call.prompt_tokens ?? 0) + (call.completion_tokens ?? 0),
  duracao: (call) => call.duration_ms ?? -1,
  ritmo: (call) => call.tokens_per_second ?? -1,
}

export function isOrder(name: string): boolean {
  return Object.hasOwn(VALUES, name)
}

/** The largest first. Only the given calls are sorted: the server lists them by time. */
export function sortCalls(calls: readonly Call[], order: string): readonly Call[] {
  const valueOf = isOrder(order) ? VALUES[order] : undefined
  if (!valueOf) return calls
  return calls.toSorted((left, right) => valueOf(right) - valueOf(left))
}
