/** The results of a run, as written to bench/results/. */
import type { Mode } from './chat-request.ts'
import type { Latencies } from './histogram.ts'
import type { Measurement } from './measure-target.ts'
import type { Options } from './parse-options.ts'
import type { SlowStreamsResult } from './slow-streams.ts'
import type { TargetName } from './target.ts'

export interface Results {
  readonly at: string
  readonly options: Options
  readonly machine: Machine
  /** Targets that could not be measured, with the reason. */
  readonly unavailable: Readonly<Partial<Record<TargetName, string>>>
  readonly rows: readonly Row[]
  readonly slowStreams: Readonly<Partial<Record<TargetName, SlowStreamsResult>>>
  readonly reconciliation: Reconciliation | null
  readonly faults: readonly string[]
}

export interface Machine {
  readonly processors: string
  readonly memoryBytes: number
  readonly platform: string
  readonly node: string
  readonly commit: string
  /** Median of a 4 KB write with fdatasync in the database's folder: the cost of a durable write here. */
  readonly fdatasyncMs: number
}

/** One target at one number of connections: the median of its rounds. */
export interface Row<Name extends string = TargetName> {
  readonly target: Name
  readonly mode: Mode
  readonly connections: number
  readonly requestsPerSecond: number
  /** The highest requests/s of a round less the lowest, as a share of the median. */
  readonly spread: number
  readonly latencyMs: Latencies
  readonly firstByteMs: Latencies
  readonly gatewayBytesMax: number | null
  readonly databaseBytes: number | null
  readonly gatewayCpuUs: number | null
  readonly databaseCpuUs: number | null
  readonly failures: number
  readonly rounds: readonly Measurement[]
}

/** Three counts of the same answers; all must be equal. */
export interface Reconciliation {
  readonly clientAnswers: number
  readonly upstreamAnswers: number
  readonly charges: number
  readonly openHolds: number
  readonly isSound: boolean
  readonly audit: unknown
}
