import { makerOf } from '../../../../src/site/pages/makers.ts'
import { plainText } from '../../lib/plain-text.ts'
import type { CatalogModel } from './catalog-query.ts'
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

/** What was measured at the makers, by the name of the catalog. */
export type Measured = ReadonlyMap<
  string,
  { readonly uptime_percent: number; readonly p50_ms: number | null }
>

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
  velocidade: ({ upstream }, measured) => measured.get(upstream)?.p50_ms ?? Infinity,
  disponibilidade: ({ upstream }, measured) =>
    -(measured.get(upstream)?.uptime_percent ?? -Infinity),
}

/** Infinity equals itself: without a figure, models stay in the order of the catalog. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}
