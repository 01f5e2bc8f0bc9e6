/** What a run has measured, as it is written to bench/results/. */
import type { Machine } from '../results.ts'
import type { PagePath, WebOptions } from './parse-web-options.ts'

export interface WebResults {
  readonly kind: 'web'
  readonly at: string
  readonly options: WebOptions
  readonly machine: Machine
  readonly browser: string
  /** Of the customer who is signed in. */
  readonly events: number
  /** The largest share of the processors that others kept busy before a measurement, 0 to 1. */
  readonly busyBefore: number
  readonly loads: readonly LoadRow[]
  readonly steps: readonly StepRow[]
  readonly calls: readonly CallRow[]
  readonly faults: readonly string[]
}

/** Milliseconds since the navigation began; bytes as they went over the network, headers included. */
export interface LoadFigures {
  readonly scriptBytes: number
  readonly styleBytes: number
  readonly allBytes: number
  readonly requests: number
  readonly firstPaintMs: number
  readonly largestPaintMs: number
  /** Session windows, as browsers report it: no unit. */
  readonly layoutShift: number
  readonly blockingMs: number
  readonly interactiveMs: number
}

/** One cold load, and what explains its figures. */
export interface Load extends LoadFigures {
  readonly largestElement: string
  readonly shifts: readonly Shift[]
  readonly longTasks: readonly LongTask[]
  readonly requestLog: readonly LoggedRequest[]
}

/** Of one page: the median of its loads, figure by figure. */
export interface LoadRow extends LoadFigures {
  readonly path: PagePath
  readonly loads: readonly Load[]
}

export interface Shift {
  readonly atMs: number
  readonly value: number
  /** What moved. */
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
  /** Null for one that had no end while it was watched. */
  readonly endMs: number | null
  readonly bytes: number
  /** From the last byte of the request to the first one of its answer. */
  readonly serverMs: number | null
}

/** Something a person does on /uso, until what they asked for is on the screen. */
export interface StepRow {
  readonly step: string
  readonly ms: number
  readonly slowestMs: number
}

/** A call of the API that the steps made. */
export interface CallRow {
  readonly call: string
  readonly times: number
  readonly serverMs: number
  readonly slowestServerMs: number
  readonly bytes: number
}
