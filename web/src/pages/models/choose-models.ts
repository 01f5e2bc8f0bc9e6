import { makerOf } from '../../../../src/site/pages/makers.ts'
import { plainText } from '../../lib/plain-text.ts'
import type { MakerHealth } from '../status/health-queries.ts'
import type { CatalogModel } from './catalog-query.ts'
import type { ModelSpeed } from './speed-queries.ts'
import { language } from '../../language/language.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export interface ModelFilters {
  readonly busca: string
  readonly categoria: string
  /** Names of abilities, apart by spaces. */
  readonly faz: string
  readonly ordem: string
}

/** What was measured of a model; null: nothing. */
export interface Measures {
  /** Of the model, or of its maker where too few calls were made to it. */
  readonly firstByteMs: number | null
  readonly tokensPerSecond: number | null
  /** Of the maker. */
  readonly uptimePercent: number | null
}

/** By the id of the model. */
export type Measured = ReadonlyMap<string, Measures>

export function joinMeasures(
  models: readonly CatalogModel[],
  makers: readonly MakerHealth[],
  speeds: readonly ModelSpeed[],
): Measured {
  const healthOf = new Map(makers.map((each) => [each.provider, each]))
  const speedOf = new Map(speeds.map((each) => [each.model_id, each]))
  return new Map(
    models.map(({ id, upstream }) => {
      const health = healthOf.get(upstream)
      const speed = speedOf.get(id)
      return [
        id,
        {
          firstByteMs: speed?.first_byte_ms ?? health?.p50_ms ?? null,
          tokensPerSecond: speed?.tokens_per_second ?? null,
          uptimePercent: health?.uptime_percent ?? null,
        },
      ]
    }),
  )
}

/** What models can do besides their kind, by the name in the address. */
export const ABILITIES: Readonly<Record<string, (model: CatalogModel) => boolean>> = {
  ferramentas: ({ category, price }) => category === 'llm' && price?.supports_tools === true,
  imagens: ({ category, price }) => category === 'llm' && price?.supports_images === true,
  cache: ({ price }) =>
    price?.tiers.some(({ input_brl, cached_input_brl }) => cached_input_brl < input_brl) ?? false,
  web: ({ price }) => price?.units.web_searches !== undefined,
}

export const ABILITY_WORDS = perLanguage((): Readonly<Record<string, string>> => ({
  ferramentas: t('Usa ferramentas'),
  imagens: t('Lê imagens'),
  cache: t('Cache mais barato'),
  web: t('Pesquisa na web'),
}))

/** Keeps the models that have every searched word in name, id or maker, and every wanted ability. */
export function chooseModels(
  models: readonly CatalogModel[],
  { busca, categoria, faz, ordem }: ModelFilters,
  measured: Measured = new Map(),
): readonly CatalogModel[] {
  const words = plainText(busca).split(/\s+/)
  const abilities = faz.split(' ').filter((name) => Object.hasOwn(ABILITIES, name))
  const found = models.filter(
    (model) =>
      (categoria === '' || model.category === categoria) &&
      abilities.every((name) => ABILITIES[name]?.(model)) &&
      words.every((word) =>
        plainText(
          `${model.id} ${model.display_name} ${model.upstream} ${makerOf(model.upstream)}`,
        ).includes(word),
      ),
  )
  if (ordem === 'nome')
    return found.toSorted((left, right) =>
      left.display_name.localeCompare(right.display_name, language()),
    )
  const rank = RANKS[ordem]
  return rank
    ? found.toSorted((left, right) => compare(rank(left, measured), rank(right, measured)))
    : found
}

type Rank = (model: CatalogModel, measured: Measured) => number

/** The smallest first; Infinity for what has no price or was not measured. */
const RANKS: Readonly<Record<string, Rank>> = {
  // The price of equal numbers of input and output tokens.
  preco: ({ price }) => {
    const [tier] = price?.tiers ?? []
    return tier ? tier.input_brl + tier.output_brl : Infinity
  },
  velocidade: ({ id }, measured) => measured.get(id)?.firstByteMs ?? Infinity,
  vazao: ({ id }, measured) => -(measured.get(id)?.tokensPerSecond ?? -Infinity),
  disponibilidade: ({ id }, measured) => -(measured.get(id)?.uptimePercent ?? -Infinity),
}

/** Infinity equals itself: without a figure, models stay in the order of the catalog. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}
