import type { Latencies } from './histogram.ts'
import type { Cell, Measurement } from './measure-target.ts'
import type { Row } from './results.ts'

/** The median of the rounds, figure by figure, so that a noisy round is outvoted. */
export function summariseRounds<Name extends string>(
  target: Name,
  cell: Cell,
  rounds: readonly Measurement[],
): Row<Name> {
  const rates = rounds.map((round) => round.requestsPerSecond)
  const rate = median(rates)
  return {
    target,
    ...cell,
    requestsPerSecond: rate,
    spread: rate === 0 ? 0 : (Math.max(...rates) - Math.min(...rates)) / rate,
    latencyMs: medianLatencies(rounds.map((round) => round.latencyMs)),
    firstByteMs: medianLatencies(rounds.map((round) => round.firstByteMs)),
    gatewayBytesMax: medianKnown(rounds.map((round) => round.gatewayBytesMax)),
    databaseBytes: medianKnown(rounds.map((round) => round.databaseBytes)),
    gatewayCpuUs: medianKnown(rounds.map((round) => round.gatewayCpuUs)),
    databaseCpuUs: medianKnown(rounds.map((round) => round.databaseCpuUs)),
    failures: rounds.reduce((sum, round) => sum + round.failures, 0),
    rounds,
  }
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  if (sorted.length % 2 === 1) return sorted[middle]!
  return (sorted[middle - 1]! + sorted[middle]!) / 2
}

function medianKnown(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null)
  return known.length === 0 ? null : median(known)
}

function medianLatencies(all: readonly Latencies[]): Latencies {
  return {
    p50: median(all.map((one) => one.p50)),
    p95: median(all.map((one) => one.p95)),
    p99: median(all.map((one) => one.p99)),
    p999: median(all.map((one) => one.p999)),
    max: median(all.map((one) => one.max)),
  }
}
