import type { Database } from '../../db/open.ts'
import type { UnsubscribeLinks } from '../../email/unsubscribe-links.ts'

export interface MailDeps {
  readonly db: Database
  /** Lets callers that are not on this machine read `/mailbox`. */
  readonly metricsToken: string | undefined
  readonly unsubscribe: UnsubscribeLinks
}

export interface MailTerms {
  /** The mailbox exists in sandbox mode only. */
  readonly mode: 'sandbox' | 'live'
}
