import type { Cell, Duration } from './measure-target.ts'
import type { Options } from './parse-options.ts'

export interface WarmUp {
  readonly cells: readonly Cell[]
  readonly duration: Duration
}

/**
 * The load on each target before the first round, so that a long-running server is measured. After ten thousand
 * single calls, when V8 has compiled the hot code, a call takes two thirds of the time and half of the processor time
 * of the first ones (measured). Single calls warm up by themselves, because they take other code paths than batches.
 */
export function planWarmUp(options: Options): WarmUp {
  const most = Math.max(...options.connections)
  const fewest = Math.min(...options.connections)
  const extremes = [...new Set([most, fewest])]
  return {
    cells: options.modes.flatMap((mode) => extremes.map((connections) => ({ mode, connections }))),
    duration: { quietMsMax: 0, warmupSeconds: 0, seconds: 2 * options.seconds },
  }
}
