import { isPast } from '../../../../src/platform/lib/days.ts'
import { date, longDay } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { exactDecimal, scaledBy } from '../../format/exact-decimal.ts'
import { amount } from '../usage/charge-words.ts'
import { unitWords } from '../usage/token-words.ts'
import type { Category, CatalogModel, Price } from './catalog-query.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export const CATEGORY_WORDS = perLanguage((): Readonly<Record<Category, string>> => ({
  llm: t('Chat'),
  embedding: t('Embeddings'),
  image: t('Imagem'),
  audio: t('Áudio'),
  video: t('Vídeo'),
}))

/** With every digit, as charged. */
export function exactBrl(brl: number): string {
  return `R$\u00a0${exactDecimal(scaledBy(brl, 9), 9, 2)}`
}

/** Token prices are shown per million, the unit that people compare. A one-hour cache write is a surcharge: with a plus. */
export function unitPrices(
  price: Price,
  write: (brl: number) => string = amount,
): readonly string[] {
  return Object.entries(price.units).map(([unit, each]) =>
    unit.startsWith('cache_write_1h_tokens')
      ? t('+ {each} por milhão de {unit}', {
          each: write(millionOf(each)),
          unit: unitWords(unit, 2),
        })
      : unit.endsWith('_tokens') || unit === 'characters'
        ? t('{each} por milhão de {unit}', {
            each: write(millionOf(each)),
            unit: unitWords(unit, 2),
          })
        : unit === 'audio_seconds'
          ? t('{each} por minuto de áudio', { each: write(minuteOf(each)) })
          : t('{each} por {unit}', { each: write(each), unit: unitWords(unit) }),
  )
}

/** Every price of a model, each with what it is for; an amount that says nothing new is left out. */
export function priceLines(price: Price): readonly (readonly [what: string, price: string])[] {
  const tokens = price.tiers.flatMap((tier) => {
    const { input_brl: input, output_brl: output } = tier
    const kinds = [
      [t('Tokens de entrada'), input, input > 0],
      [t('Tokens lidos do cache'), tier.cached_input_brl, tier.cached_input_brl !== input],
      [t('Tokens gravados no cache'), tier.cache_write_brl, tier.cache_write_brl !== input],
      [t('Tokens de saída'), output, output > 0],
      [t('Tokens de raciocínio'), tier.reasoning_brl, tier.reasoning_brl !== output],
    ] as const
    const above =
      tier.above_prompt_tokens > 0
        ? t(', com mais de {count} de entrada', { count: wholeNumber(tier.above_prompt_tokens) })
        : ''
    return kinds
      .filter(([, , isShown]) => isShown)
      .map(
        ([what, each]) => [what + above, t('{each} por milhão', { each: exactBrl(each) })] as const,
      )
  })
  const names = Object.keys(price.units).map((unit) => unitWords(unit, 2))
  return [
    ...tokens,
    ...unitPrices(price, exactBrl).map(
      (text, place) => [capitalized(names[place] ?? ''), text] as const,
    ),
  ]
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
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

/** `entrada R$ 6,50, saída R$ 13,00`: per million tokens, and per unit. */
export function pricesText(model: CatalogModel): string {
  const [tier] = model.price?.tiers ?? []
  if (!model.price || !tier) return t('sem preço no momento')
  const output = outputPrice(model)
  return [
    ...(isPaidByTokens(model)
      ? [t('entrada {inputBrl}', { inputBrl: amount(tier.input_brl) })]
      : []),
    ...(output === undefined ? [] : [t('saída {output}', { output: amount(output) })]),
    ...unitPrices(model.price),
  ].join(', ')
}

/** The next change of the price that has a date; undefined if there is none. */
export function plannedText(model: CatalogModel): string | undefined {
  const { price } = model
  if (!price?.planned) return undefined
  const { starts_at, ...amounts } = price.planned
  const then = { ...model, price: { ...price, ...amounts } }
  return t('A partir de {startsAt}: {prices}', {
    startsAt: date(starts_at),
    prices: pricesText(then),
  })
}

/** When the maker ends the model, and what it names in its place; undefined if no day is announced. */
export function endText(
  { ends_on: day, replaced_by: other }: CatalogModel,
  models: readonly Pick<CatalogModel, 'id' | 'display_name'>[],
): string | undefined {
  if (day === null) return undefined
  const end = isPast(day)
    ? t('O fabricante encerrou este modelo em {day}.', { day: longDay(day) })
    : t('Sai do ar em {day}.', { day: longDay(day) })
  if (other === null) return end
  const name = models.find(({ id }) => id === other)?.display_name ?? other
  return `${end} ${t('Substituto: {name}.', { name })}`
}

function millionOf(each: number): number {
  return Number(scaledBy(each, 9) * 1_000_000n) / 1e9
}

function minuteOf(each: number): number {
  return Number(scaledBy(each, 9) * 60n) / 1e9
}
