import type { WriteDocument } from './legal-document.ts'
import { privacyPolicy20261123 } from './privacy-policy-2026-11-23.ts'
import { termsOfUse20261123 } from './terms-of-use-2026-11-23.ts'

export interface LegalVersion {
  readonly terms: WriteDocument
  readonly privacy: WriteDocument
}

/**
 * The versions of both documents by the day on which they took effect. A text that customers have accepted is never
 * changed: another text is another version.
 */
export const LEGAL_VERSIONS: Readonly<Record<string, LegalVersion>> = {
  '2026-11-23': { terms: termsOfUse20261123, privacy: privacyPolicy20261123 },
}

export const CURRENT_LEGAL_VERSION = '2026-11-23'
