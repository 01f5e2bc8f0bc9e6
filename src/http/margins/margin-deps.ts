import type { Margins } from '../../money/usage/margins.ts'

export interface MarginDeps {
  readonly margins: Margins
}
