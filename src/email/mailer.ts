import type { MailAddress } from './mail-address.ts'
import type { RenderedMail } from './render-mail.ts'

export interface OutgoingMail extends RenderedMail {
  readonly id: string
  /** Null: of nobody who is a customer. */
  readonly customerId: string | null
  readonly from: MailAddress
  readonly to: string
}

/** Errors are words of ours and codes of SMTP; never what the server wrote, which may name people. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  /** For good. */
  | { readonly kind: 'refused'; readonly error: string }
  | {
      readonly kind: 'unavailable'
      readonly error: string
      /** True where it is not about this mail: the next one would fare no better. */
      readonly isServerUnavailable: boolean
    }

/** Takes mails to where they are read. */
export interface Mailer {
  deliver(mail: OutgoingMail): Promise<DeliveryOutcome>
  close(): void
}
