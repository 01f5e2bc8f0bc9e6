import type { MailAddress } from './mail-address.ts'
import type { RenderedMail } from './render-mail.ts'

export interface OutgoingMail extends RenderedMail {
  readonly id: string
  /** Null if the recipient is not a customer. */
  readonly customerId: string | null
  readonly from: MailAddress
  readonly to: string
}

/** What became of a mail. Errors are our own words and SMTP codes, never the server's text, which may name people. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  /** A permanent failure: no further attempt. */
  | { readonly kind: 'refused'; readonly error: string }
  | {
      readonly kind: 'unavailable'
      readonly error: string
      /** True when the failure does not concern this mail: the next one would fail too. */
      readonly isServerUnavailable: boolean
    }

/** Delivers mails: by SMTP, or to the sandbox mailbox. */
export interface Mailer {
  deliver(mail: OutgoingMail): Promise<DeliveryOutcome>
  close(): void
}
