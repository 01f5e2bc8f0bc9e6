import type { Cell, Duration } from './measure-target.ts'
import type { Options } from './parse-options.ts'

export interface WarmUp {
  readonly cells: readonly Cell[]
  readonly duration: Duration
}

/**
 * What each target is loaded with before the first round, to be as a server that has run for a while. Measured: after
 * ten thousand lone calls, when V8 has compiled what is hot, one takes two thirds of the time and half of the
 * processor's that the first ones took; and a lone call goes other ways than many.
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
