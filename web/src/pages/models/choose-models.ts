import type { CatalogModel } from './catalog-query.ts'

export interface ModelFilters {
  readonly busca: string
  readonly categoria: string
  readonly ordem: string
}

/** Every word that is searched for stands somewhere in the name, the id or the maker. */
export function chooseModels(
  models: readonly CatalogModel[],
  { busca, categoria, ordem }: ModelFilters,
): readonly CatalogModel[] {
  const words = plain(busca).split(/\s+/)
  const found = models.filter(
    (model) =>
      (categoria === '' || model.category === categoria) &&
      words.every((word) =>
        plain(`${model.id} ${model.display_name} ${model.upstream}`).includes(word),
      ),
  )
  if (ordem === 'preco') return found.toSorted((left, right) => costOf(left) - costOf(right))
  if (ordem === 'nome')
    return found.toSorted((left, right) =>
      left.display_name.localeCompare(right.display_name, 'pt-BR'),
    )
  return found
}

function plain(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim()
}

/** As many tokens in as out: only to put them in an order. */
function costOf({ price }: CatalogModel): number {
  const [tier] = price?.tiers ?? []
  return tier ? tier.input_brl + tier.output_brl : Infinity
}
