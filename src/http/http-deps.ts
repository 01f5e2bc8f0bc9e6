import type { Catalog } from '../catalog/catalog.ts'
import type { KeyCache } from '../customers/key-cache.ts'
import type { Database } from '../db/open.ts'
import type { UnsubscribeLinks } from '../email/unsubscribe-links.ts'
import type { MailSender } from '../email/mail-sender.ts'
import type { FxRate } from '../fx/fx-rates.ts'
import type { ServeCall } from '../gateway/serve-call.ts'
import type { IncomingForm } from '../gateway/transcriptions/transcription-request.ts'
import type { LimitsView } from '../gateway/limits.ts'
import type { RouteState } from '../gateway/routing/create-router.ts'
import type { Log } from '../lib/log.ts'
import type { NanoBrl } from '../lib/money.ts'
import type { Processor } from '../payments/processor.ts'
import type { ReferralProgramme } from '../payments/referral-rewards/reward-due-referrals.ts'
import type { SignIn } from '../sign-in/create-sign-in.ts'
import type { Margins } from '../usage/margins.ts'
import type { WebhookSettings } from '../webhooks/webhook-settings.ts'
import type { UploadLimits } from './model-calls/upload-form.ts'

/** The kinds of model calls. */
export interface ModelCalls {
  readonly completeChat: ServeCall
  readonly embed: ServeCall
  readonly generateImages: ServeCall
  readonly transcribe: ServeCall<IncomingForm>
}

export interface Payments {
  /** Undefined where nobody can pay in. */
  readonly processor: Processor | undefined
  /** Of a top-up, in whole BRL. */
  readonly minimumBrl: number
  /** In whole BRL: a larger refund waits for an operator. */
  readonly refundReviewAboveBrl: number
  /** An event of the processor waits to be looked into. */
  onEvent(): void
}

/** What operators may do, and how. */
export interface Operators {
  /** Adjustments above it wait for a second one. */
  readonly approvalAboveNanoBrl: NanoBrl
  readonly markupNoticeDays: number
  /** This node knows of a change when it is answered; the others are told. */
  reloadCatalog(): Promise<void>
}

/** What only this node knows of itself. */
export interface ThisNode {
  /** Another one after the node was fenced. */
  id(): string
  readonly startedAt: Date
  runningCalls(): number
  /** Settlements on the local disk that wait for the database. */
  spoolLength(): number
  ledgerWaiting(): number
  listRoutes(): readonly RouteState[]
  /** Empty where this node has no workers. */
  listTimers(): readonly {
    readonly name: string
    readonly everyMs: number
    readonly lastDoneAt: Date | null
    readonly lastFailedAt: Date | null
    readonly failuresInRow: number
  }[]
}

/** What the routes work with; made once, in `composition`. */
export interface HttpDeps {
  readonly db: Database
  readonly catalog: Catalog
  readonly keys: KeyCache
  readonly calls: ModelCalls
  readonly uploads: UploadLimits
  /** Where customers reach this server; undefined: where each request says that it went. */
  readonly publicUrl: string | undefined
  readonly limits: LimitsView
  /** Undefined where no rate is stored yet. */
  readonly currentFxRate: () => FxRate | undefined
  readonly payments: Payments
  readonly referrals: ReferralProgramme
  /** In lower case: whose customers may use `/admin`. */
  readonly adminEmails: ReadonlySet<string>
  readonly operators: Operators
  readonly thisNode: ThisNode
  readonly margins: Margins
  readonly ipRequestsPerMinute: number
  readonly bodyBytesMax: number
  /** Whose `X-Forwarded-For` is believed: addresses or CIDR blocks; false: nobody's. */
  readonly trustProxy: readonly string[] | false
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Lets callers that are not on this machine read `/metrics`. */
  readonly metricsToken: string | undefined
  readonly webhooks: WebhookSettings
  /** Who mails and receipts are from. */
  readonly sender: MailSender
  /** What messages of the identity provider are signed with; undefined: none is believed. */
  readonly authWebhookSecret: Buffer | undefined
  readonly unsubscribe: UnsubscribeLinks
  readonly signIn: SignIn
  readonly mode: 'sandbox' | 'live'
  readonly log: Log
}
