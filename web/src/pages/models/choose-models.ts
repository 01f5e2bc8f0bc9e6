import { plainText } from '../../lib/plain-text.ts'
import type { CatalogModel } from './catalog-query.ts'
import { language } from '../../language/language.ts'

export interface ModelFilters {
  readonly busca: string
  readonly categoria: string
  readonly ordem: string
}

/** Keeps the models whose name, id or vendor contains every searched word. */
export function chooseModels(
  models: readonly CatalogModel[],
  { busca, categoria, ordem }: ModelFilters,
): readonly CatalogModel[] {
  const words = plainText(busca).split(/\s+/)
  const found = models.filter(
    (model) =>
      (categoria === '' || model.category === categoria) &&
      words.every((word) =>
        plainText(`${model.id} ${model.display_name} ${model.upstream}`).includes(word),
      ),
  )
  if (ordem === 'preco') return found.toSorted((left, right) => costOf(left) - costOf(right))
  if (ordem === 'nome')
    return found.toSorted((left, right) =>
      left.display_name.localeCompare(right.display_name, language()),
    )
  return found
}

/** The price of equal numbers of input and output tokens; only used for sorting. */
function costOf({ price }: CatalogModel): number {
  const [tier] = price?.tiers ?? []
  return tier ? tier.input_brl + tier.output_brl : Infinity
}
