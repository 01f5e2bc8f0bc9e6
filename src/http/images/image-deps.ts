import type { Database } from '../../platform/db/open.ts'
import type { Slots } from '../../platform/lib/slots.ts'

/** Downloads of images to one address at once. Each occupies less than a megabyte. */
export const IMAGE_DOWNLOADS_MAX = 20

export interface ImageDeps {
  readonly db: Database
  readonly imageSlots: Slots
}
