/** The results of a run, as written to bench/results/. */
import type { Machine } from '../results.ts'
import type { PagePath, WebOptions } from './parse-web-options.ts'

export interface WebResults {
  readonly kind: 'web'
  readonly at: string
  readonly options: WebOptions
  readonly machine: Machine
  readonly browser: string
  /** The usage events of the signed-in customer. */
  readonly events: number
  /** The largest share of the processors that other work kept busy before a measurement, 0 to 1. */
  readonly busyBefore: number
  readonly loads: readonly LoadRow[]
  readonly steps: readonly StepRow[]
  readonly calls: readonly CallRow[]
  readonly faults: readonly string[]
}

/** Milliseconds since the navigation began; bytes as sent over the network, headers included. */
export interface LoadFigures {
  readonly scriptBytes: number
  readonly styleBytes: number
  readonly allBytes: number
  readonly requests: number
  readonly firstPaintMs: number
  readonly largestPaintMs: number
  /** By session windows, as browsers report it; without a unit. */
  readonly layoutShift: number
  readonly blockingMs: number
  readonly interactiveMs: number
}

/** One cold load, with the observations behind its figures. */
export interface Load extends LoadFigures {
  readonly largestElement: string
  readonly shifts: readonly Shift[]
  readonly longTasks: readonly LongTask[]
  readonly requestLog: readonly LoggedRequest[]
}

/** One page: the median of its loads, figure by figure. */
export interface LoadRow extends LoadFigures {
  readonly path: PagePath
  readonly loads: readonly Load[]
}

export interface Shift {
  readonly atMs: number
  readonly value: number
  /** The elements that moved. */
  readonly sources: readonly string[]
}

export interface LongTask {
  readonly startMs: number
  readonly durationMs: number
}

export interface LoggedRequest {
  readonly url: string
  readonly method: string
  readonly kind: 'script' | 'style' | 'other'
  readonly status: number
  readonly startMs: number
  /** Null if the request did not end during the observation. */
  readonly endMs: number | null
  readonly bytes: number
  /** From the last byte of the request to the first byte of its answer. */
  readonly serverMs: number | null
}

/** A step of a person on /uso, until its result is on the screen. */
export interface StepRow {
  readonly step: string
  readonly ms: number
  readonly slowestMs: number
}

/** An API call that the steps made. */
export interface CallRow {
  readonly call: string
  readonly times: number
  readonly serverMs: number
  readonly slowestServerMs: number
  readonly bytes: number
}
