import type { NodeProcess } from '../money/ledger/lease.ts'
import type { Channel } from '../platform/processes/channel.ts'

/**
 * What this process is on its server: all of it; the parent, which runs the background jobs and watches the workers; or a
 * worker, which answers requests.
 */
export type ProcessPlace =
  | { readonly role: 'alone' }
  | { readonly role: 'parent'; readonly process: NodeProcess }
  | ({ readonly role: 'worker'; readonly parent: Channel } & WorkerStart)

/** The way to the sandbox processor, which one process of a server runs. */
export interface SandboxAccount {
  readonly baseUrl: string
  readonly webhookToken: string
}

/** The first message of a parent to its worker. */
export interface WorkerStart {
  readonly databaseUrl: string
  readonly process: NodeProcess
  /** The number of workers of the server. */
  readonly workers: number
  /** The account at the sandbox processor, which runs in the parent. */
  readonly sandbox: SandboxAccount | undefined
}

export const ALONE: ProcessPlace = { role: 'alone' }

/** Returns the process within its server; undefined where this process is the whole server. */
export function processOf(place: ProcessPlace): NodeProcess | undefined {
  return place.role === 'alone' ? undefined : place.process
}
