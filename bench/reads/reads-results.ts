/** What a run has measured, as it is written to bench/results/. */
import type { Latencies } from '../histogram.ts'
import type { Machine } from '../results.ts'
import type { ReadsOptions } from './parse-reads-options.ts'

export interface ReadsResults {
  readonly kind: 'reads'
  readonly at: string
  readonly options: ReadsOptions
  readonly machine: Machine
  readonly history: HistoryFacts
  readonly rows: readonly ReadRow[]
  readonly exports: readonly ExportRow[]
  readonly memory: readonly MemoryRow[]
  readonly faults: readonly string[]
}

/** What was there to be read. */
export interface HistoryFacts {
  readonly events: number
  readonly heavyEvents: number
  readonly ordinaryEvents: number
  readonly databaseBytes: number
  /** Null where the audit was left out. */
  readonly isSound: boolean | null
}

export type CallerName = 'heavy' | 'ordinary'

/** One call of one operation by one caller at one number of connections. */
export interface ReadRow {
  readonly path: string
  /** `default`, `widest`, `last page`, or a filter and its value. */
  readonly label: string
  readonly url: string
  readonly caller: CallerName
  readonly connections: number
  readonly bytes: number
  /** Fewer than asked for where each took very long. */
  readonly calls: number
  readonly latencyMs: Latencies
  /** Processor time a call, whatever else the machine does; null where the system does not tell. */
  readonly serverCpuMs: number | null
  readonly databaseCpuMs: number | null
  /** Share of the processors that others kept busy before it, 0 to 1. */
  readonly busyBefore: number
}

export interface ExportRow {
  readonly url: string
  readonly caller: CallerName
  readonly firstByteMs: Latencies
  readonly seconds: number
  readonly rows: number
  readonly bytes: number
}

/** Resident memory of the server while a whole export was read. */
export interface MemoryRow {
  readonly url: string
  readonly reader: 'fast' | 'slow'
  readonly beforeBytes: number
  readonly peakBytes: number
  readonly seconds: number
  readonly rows: number
  readonly bytes: number
  /** False where the reader went away before the end, as the slow one does. */
  readonly isWhole: boolean
  /** Connections to the database that were still busy with it two seconds after its end. */
  readonly leftOver: number
}
