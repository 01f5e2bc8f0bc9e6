/** What a mail says, before it has a form. Everything in it is plain text: the forms escape it. */

export interface MailContent {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** Those without a value are left out. */
  readonly facts?: readonly Fact[]
  /** To be copied as it is: a Pix code, a token. */
  readonly copied?: { readonly label: string; readonly text: string } | undefined
  /** Where the reader goes on. */
  readonly link?: { readonly label: string; readonly url: string } | undefined
  readonly closing?: readonly string[]
  /** One that nobody needs: it says how to get no more of them. */
  readonly isOptional?: boolean
  /** To somebody whose name is not known. */
  readonly isToStranger?: boolean
}

export type Fact = readonly [label: string, value: string | undefined]

export type MailData = Readonly<Record<string, unknown>>

/** The data of a mail, read as text that may be shown; undefined for what is not there or is something else. */
export interface DataReader {
  text(name: string): string | undefined
  /** Text that is kept to the letter, however long. */
  code(name: string): string | undefined
  /** A whole address of the web. */
  url(name: string): string | undefined
  brl(name: string): string | undefined
  time(name: string): string | undefined
  day(name: string): string | undefined
  count(name: string): string | undefined
  is(name: string, value: unknown): boolean
  list(name: string): readonly DataReader[]
}

export type Template = (data: DataReader) => MailContent
