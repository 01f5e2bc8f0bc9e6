import type { Margins } from '../../usage/margins.ts'

export interface MarginDeps {
  readonly margins: Margins
}
