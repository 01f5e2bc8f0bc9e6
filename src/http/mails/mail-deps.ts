import type { OperatorAccess } from '../rest/is-operator.ts'
import type { Database } from '../../platform/db/open.ts'
import type { UnsubscribeLinks } from '../../deliveries/email/unsubscribe-links.ts'

export interface MailDeps {
  readonly db: Database
  readonly operatorAccess: OperatorAccess
  readonly unsubscribe: UnsubscribeLinks
}

export interface MailTerms {
  /** The mailbox exists in sandbox mode only. */
  readonly mode: 'sandbox' | 'live'
}
