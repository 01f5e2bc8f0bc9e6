/** A measured path from the load generator to the upstream, with or without a gateway. */
import type { Finished, Processes, RunningProcess } from './processes.ts'

export const targetNames = ['direct', 'nginx', 'portkey', 'catraca'] as const
export type TargetName = (typeof targetNames)[number]

/** The target that the others are compared with. */
export const peerName: TargetName = 'portkey'

/** What a load needs to know of a target. */
export interface AnyTarget {
  readonly name: string
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The credentials of each customer, where there are several. */
  readonly callers?: readonly Readonly<Record<string, string>>[]
  /** The gateway's process, whose memory and processor time are read; undefined without a gateway. */
  readonly pid: number | undefined
  /** The process of a database that is not its child; its memory and processor time are the target's too. */
  readonly databasePid?: number
}

export interface Target extends AnyTarget {
  readonly name: TargetName
  /** The folder of its database, where it has one. */
  readonly dataDir?: string
  /** Only for a target that bills: runs the audit and counts the charges. */
  audit?(): Promise<Audit>
  /** Only for a target with a database: its commands with the settings of this run on a data folder, also another one. */
  on?(dataDir: string): OnDataFolder
}

export interface OnDataFolder {
  /** Runs a command of the command line. */
  run(...args: string[]): Promise<Finished>
  audit(): Promise<Audit>
  /** Starts a server of this run's settings on a free port. */
  start(): Promise<RunningProcess>
}

export interface Audit {
  readonly isSound: boolean
  readonly charges: number
  /** Holds that are still open after the last call: there must be none. */
  readonly openHolds: number
  /** The output of the audit, for the results file. */
  readonly report: unknown
}

export interface Surroundings {
  readonly processes: Processes
  readonly upstreamPort: number
  /** A temporary folder of this run, removed at its end. */
  readonly folder: string
  /** Gateway processes of Catraca; 1 by default. */
  readonly workers?: number
  /** Catraca also has upstreams of the Messages and Responses formats, which earlier commits do not know. */
  readonly hasFormats?: boolean
  /** Customers of Catraca, among whom the connections are divided; 1 by default. */
  readonly customers?: number
  /** Another port of the upstream. Catraca then has a slow upstream at it, and a model whose first route is dead. */
  readonly latePort?: number
  /** The cell that the database of Catraca is. */
  readonly cell?: string
  /** Arguments of Node.js for the server of Catraca, beside those of `npm start`. */
  readonly nodeArguments?: readonly string[]
}

export interface Unavailable {
  readonly kind: 'unavailable'
  readonly reason: string
}

export type StartTarget = (surroundings: Surroundings) => Promise<Target | Unavailable>

export const chatPath = '/v1/chat/completions'
/** Of the relays that route by the path: to an upstream whose first server is dead. */
export const deadFirstPath = '/dead-first'
