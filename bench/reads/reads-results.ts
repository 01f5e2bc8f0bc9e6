/** The results of a run, as written to bench/results/. */
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

/** The size of the history. */
export interface HistoryFacts {
  readonly events: number
  readonly heavyEvents: number
  readonly ordinaryEvents: number
  readonly databaseBytes: number
  /** Null without the audit. */
  readonly isSound: boolean | null
}

export type CallerName = 'heavy' | 'ordinary'

/** One variant of one operation, by one caller, at one number of connections. */
export interface ReadRow {
  readonly path: string
  /** `default`, `widest`, `last page`, or a filter and its value. */
  readonly label: string
  readonly url: string
  readonly caller: CallerName
  readonly connections: number
  readonly bytes: number
  /** Fewer than requested if each took very long. */
  readonly calls: number
  readonly latencyMs: Latencies
  /** The server's processor time for each call, without other work on the machine; null where the system does not report it. */
  readonly serverCpuMs: number | null
  readonly databaseCpuMs: number | null
  /** The share of the processors that other work kept busy before the measurement, 0 to 1. */
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

/** The server's resident memory while a whole export was read. */
export interface MemoryRow {
  readonly url: string
  readonly reader: 'fast' | 'slow'
  readonly beforeBytes: number
  readonly peakBytes: number
  readonly seconds: number
  readonly rows: number
  readonly bytes: number
  /** False if the reader disconnected before the end, as the slow one does. */
  readonly isWhole: boolean
  /** Database connections that were still busy with the export two seconds after its end. */
  readonly leftOver: number
}
