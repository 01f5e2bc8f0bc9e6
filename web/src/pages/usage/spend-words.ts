import type { Grouping, Spend } from './usage-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** By their names in the URL. */
export const GROUPINGS = perLanguage((): readonly (readonly [string, Grouping, string])[] => [
  ['modelo', 'model', t('Modelo')],
  ['chave', 'key', t('Chave')],
  ['equipe', 'team', t('Equipe')],
  ['sessao', 'session', t('Sessão')],
])

const REST = perLanguage((): Readonly<Record<Grouping, string>> => ({
  model: t('Outros modelos'),
  key: t('Outras chaves'),
  team: t('Sem equipe'),
  session: t('Outras e sem sessão'),
}))

export function groupName({ id, name }: Spend['groups'][number], by: Grouping): string {
  return id === null ? REST()[by] : (name ?? id)
}

/** One colour for each group that the API lists, and one for the rest. */
export const GROUP_COLOURS: readonly string[] = [
  'bg-series-1',
  'bg-series-2',
  'bg-series-3',
  'bg-series-4',
  'bg-series-5',
  'bg-series-6',
  'bg-series-7',
  'bg-series-8',
  'bg-series-9',
]
export const REST_COLOUR = 'bg-line-strong'

export function colourOf({ id }: { readonly id: string | null }, place: number): string {
  return id === null ? REST_COLOUR : (GROUP_COLOURS[place] ?? REST_COLOUR)
}
