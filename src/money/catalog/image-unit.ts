import type { PriceTerms } from './prices.ts'

/**
 * Returns the unit that bills an image of this size and quality, in prices per image: the most specific one that the
 * price has. Undefined if the price has none; such an image cannot be sold.
 */
export function imageUnit(price: PriceTerms, size: string, quality: string): string | undefined {
  return [`images:${quality}:${size}`, `images:${size}`, `images:${quality}`, 'images'].find(
    (unit) => price.units?.[unit] !== undefined,
  )
}
