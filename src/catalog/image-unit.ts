import type { PriceTerms } from './prices.ts'

/**
 * The unit that an image of this size and quality is billed by, in prices that count images: the most
 * exact one that the price has. Undefined where it has none: then such an image cannot be sold.
 */
export function imageUnit(price: PriceTerms, size: string, quality: string): string | undefined {
  return [`images:${quality}:${size}`, `images:${size}`, `images:${quality}`, 'images'].find(
    (unit) => price.units?.[unit] !== undefined,
  )
}
