import type { Company } from '../../customers/legal/company.ts'

export interface LegalDeps {
  /** The sender of all mails. */
  readonly sender: { readonly company: Company }
  readonly mode: 'sandbox' | 'live'
}
