/** The kinds of personal data that the shield finds, as reports name them. */
export const DATA_KINDS = ['cpf', 'cnpj', 'email', 'phone', 'card', 'pix_key'] as const
export type DataKind = (typeof DATA_KINDS)[number]

/** One occurrence in a text; `end` is exclusive. */
export interface Found {
  readonly kind: DataKind
  readonly start: number
  readonly end: number
  /** The same for all spellings of one document, address or number. */
  readonly canonical: string
  /** How many JSON strings, one within another, the value is in; 0 if that makes no difference to it. */
  readonly depth?: number
  /** The value is a whole number of JSON text. */
  readonly isNumber?: boolean
}

export interface FindOptions {
  /**
   * A random Pix key is a UUID, as are many ids that are no personal data. `near_pix` takes a UUID for a key only
   * where the text mentions Pix beside it, `always` takes every UUID.
   */
  readonly uuids: 'near_pix' | 'always'
}
