import type { DataKind } from '../../customers/shield-setting.ts'

/** An occurrence of personal data in a text; `end` is exclusive. */
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
