import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Processor } from '../../money/payments/processor.ts'

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
