import type { Database } from '../../db/open.ts'
import type { Log } from '../../lib/log.ts'
import type { Processor } from '../../payments/processor.ts'

export interface ProcessorEventDeps {
  readonly db: Database
  readonly log: Log
  readonly payments: {
    /** Undefined if payments are not configured. */
    readonly processor: Processor | undefined
    /** Wakes the job that processes the stored events. */
    onEvent(): void
  }
}
