import { exactDecimal, scaledBy } from '../../format/exact-decimal.ts'
import { amount } from '../usage/charge-words.ts'
import { unitWords } from '../usage/token-words.ts'
import type { Category, CatalogModel, Price } from './catalog-query.ts'

export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  llm: 'Chat',
  embedding: 'Embeddings',
  image: 'Imagem',
  audio: 'Áudio',
  video: 'Vídeo',
}

/** With every digit, as charged. */
export function exactBrl(brl: number): string {
  return `R$\u00a0${exactDecimal(scaledBy(brl, 9), 9, 2)}`
}

/** Token prices are shown per million, the unit that people compare. */
export function unitPrices(
  price: Price,
  write: (brl: number) => string = amount,
): readonly string[] {
  return Object.entries(price.units).map(([unit, each]) =>
    unit.endsWith('_tokens')
      ? `${write(millionOf(each))} por milhão de ${unitWords(unit, 2)}`
      : unit === 'audio_seconds'
        ? `${write(minuteOf(each))} por minuto de áudio`
        : `${write(each)} por ${unitWords(unit)}`,
  )
}

/** Whether text tokens have a price: some models charge only for images or seconds. */
export function isPaidByTokens({ price }: CatalogModel): boolean {
  return price?.tiers.some(({ input_brl, output_brl }) => input_brl + output_brl > 0) ?? false
}

/** Undefined for a model that generates no text. */
export function outputPrice({ category, price }: CatalogModel): number | undefined {
  const [tier] = price?.tiers ?? []
  return category === 'embedding' || !tier || tier.output_brl === 0 ? undefined : tier.output_brl
}

function millionOf(each: number): number {
  return Number(scaledBy(each, 9) * 1_000_000n) / 1e9
}

function minuteOf(each: number): number {
  return Number(scaledBy(each, 9) * 60n) / 1e9
}
