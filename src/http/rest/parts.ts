import type { KeyCache } from '../../customers/key-cache.ts'
import type { MailSender } from '../../deliveries/email/mail-sender.ts'
import type { UnsubscribeLinks } from '../../deliveries/email/unsubscribe-links.ts'
import type { ReceiverSettings } from '../../deliveries/receiver.ts'
import type { LimitsView } from '../../gateway/calls/limits.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { FxRateView } from '../../money/fx/applied-rates.ts'
import type { Processor } from '../../money/payments/processor.ts'
import type { Database } from '../../platform/db/open.ts'
import type { ReadReplicas } from '../../platform/db/replicas/open-read-replicas.ts'
import type { Share } from '../../platform/admission/share.ts'
import type { Turns } from '../../platform/admission/turn.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Pace } from '../../platform/admission/rate.ts'
import type { CorsOrigins } from '../server/add-cors.ts'
import type { OperatorRole } from './access.ts'
import type { OperatorAccess } from './is-operator.ts'
import type { RestLimits } from './rest-limits.ts'

/**
 * What several resources need of the server, under the names that it has in the whole program. A route picks what it
 * uses; what one resource alone needs, it declares beside its routes.
 */
export interface HttpParts {
  readonly config: HttpConfig
  /** Of a route that reads from a replica: the replica. */
  readonly db: Database
  /** For balances and settings, which are never shown late, and for what an export records of itself. */
  readonly primary: Database
  readonly replicas: ReadReplicas
  readonly log: Log
  readonly catalog: Catalog
  /** Resolves when this node serves the changed catalog; the other nodes are notified. */
  readonly reloadCatalog: () => Promise<void>
  readonly fxRate: FxRateView
  readonly keys: KeyCache
  readonly signIn: SignIn
  readonly limits: LimitsView
  readonly restLimits: RestLimits
  /** By e-mail, in lower case. */
  readonly operatorRoles: ReadonlyMap<string, OperatorRole>
  readonly operatorAccess: OperatorAccess
  /** Undefined if nobody can top up. */
  readonly payments: { readonly processor: Processor | undefined }
  /** With the operator's rules for addresses of customers. */
  readonly webhooks: ReceiverSettings
  /** The sender of all mails, whom receipts and pages name, too. */
  readonly sender: MailSender
  readonly unsubscribe: UnsubscribeLinks
  /** The memory of request bodies and answers. */
  readonly bodies: Share
  readonly pace: Pace
  /** Of all exports of a customer on this node. */
  readonly exportSlots: Share
  /** Batches that are being stored. Each has a connection of the pool until its last line is stored. */
  readonly batchSlots: Share
  /** Files that are being stored, from the disk: each has a connection while it is its turn. */
  readonly fileTurns: Turns
}

/** The settings that the server and its routes read. */
export interface HttpConfig {
  readonly mode: 'sandbox' | 'live'
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
  /** The origins of pages that may call models with a key. */
  readonly corsOrigins: CorsOrigins
  /** The proxies whose `X-Forwarded-For` is trusted: addresses or CIDR blocks; false: none. */
  readonly trustProxy: readonly string[] | false
  readonly requestsPerMinutePerIp: number
  readonly bodyBytesMax: number
  /** Signs the messages of the identity provider; undefined: every message is refused. */
  readonly authWebhookSecret: Buffer | undefined
  /** In whole BRL. */
  readonly topUpMinBrl: number
  /** In whole BRL; 0: there is none. */
  readonly trialCreditBrl: number
  /** In whole BRL: a larger refund waits for an operator. */
  readonly refundReviewAboveBrl: number
  /** In whole BRL: a larger adjustment needs a second operator. */
  readonly adminApprovalAboveBrl: number
  /** Days between the announcement of a higher markup and its start. */
  readonly markupNoticeDays: number
}
