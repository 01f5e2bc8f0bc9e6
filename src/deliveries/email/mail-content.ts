/** The content of a mail before it is rendered. All of it is plain text; the renderers escape it. */

export interface MailContent {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** Facts without a value are left out. */
  readonly facts?: readonly Fact[]
  /** Text for the reader to copy, such as a Pix code or a token. */
  readonly copied?: { readonly label: string; readonly text: string } | undefined
  /** The reader's next step. */
  readonly link?: { readonly label: string; readonly url: string } | undefined
  /** The reader's next step on a page of the dashboard; left out where the service has no public address. */
  readonly page?: { readonly label: string; readonly path: string }
  readonly closing?: readonly string[]
  /** The preference that an optional mail needs: the mail carries a link that ends it. */
  readonly preference?: MailPreference
  /** The recipient is not a customer, so the mail greets no name. */
  readonly isToStranger?: boolean
}

export type MailPreference = 'weekly_digest_enabled' | 'incident_email_enabled'

export type Fact = readonly [label: string, value: string | undefined]

export type MailData = Readonly<Record<string, unknown>>

/**
 * Reads the data of a mail as text that is safe to show; undefined when a value is missing or has another type.
 */
export interface DataReader {
  text(name: string): string | undefined
  /** Verbatim text of any length. */
  code(name: string): string | undefined
  /** An absolute URL. */
  url(name: string): string | undefined
  brl(name: string): string | undefined
  time(name: string): string | undefined
  day(name: string): string | undefined
  count(name: string): string | undefined
  is(name: string, value: unknown): boolean
  list(name: string): readonly DataReader[]
}

export type Template = (data: DataReader) => MailContent
