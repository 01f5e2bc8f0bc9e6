import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { classNames } from '../../lib/class-names.ts'
import type { CatalogModel, Category } from './catalog-query.ts'
import type { ModelFilters } from './choose-models.ts'
import { CATEGORY_WORDS } from './price-words.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly models: readonly CatalogModel[]
  readonly filters: ModelFilters
  readonly onChange: (change: Partial<ModelFilters>) => void
}

export function ModelFilterFields({ models, filters, onChange }: Props) {
  const categories = (Object.keys(CATEGORY_WORDS()) as Category[])
    .map((value) => ({ value, count: models.filter(({ category }) => category === value).length }))
    .filter(({ count }) => count > 0)
  const choices = [{ value: '', count: models.length }, ...categories] as const
  return (
    <div role="search" aria-label={t('Procurar modelos')} className="grid gap-3">
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_12rem]">
        <Field label={t('Procurar')}>
          {(control) => (
            <Input
              {...control}
              type="search"
              placeholder={t('Nome ou fabricante')}
              autoComplete="off"
              spellCheck={false}
              value={filters.busca}
              onChange={(event) => onChange({ busca: event.target.value })}
            />
          )}
        </Field>
        <Field label={t('Ordem')}>
          {(control) => (
            <Select
              {...control}
              value={filters.ordem}
              onChange={(event) => onChange({ ordem: event.target.value })}
            >
              <option value="">{t('Catálogo')}</option>
              <option value="preco">{t('Mais barato primeiro')}</option>
              <option value="nome">{t('Nome')}</option>
            </Select>
          )}
        </Field>
      </div>
      <div role="group" aria-label={t('Tipo de modelo')} className="flex flex-wrap gap-2">
        {choices.map(({ value, count }) => {
          const isChosen = filters.categoria === value
          return (
            <button
              key={value}
              type="button"
              aria-pressed={isChosen}
              onClick={() => onChange({ categoria: value })}
              className={classNames(
                'min-h-11 rounded-full border px-4 text-sm font-medium md:min-h-9',
                isChosen
                  ? 'border-accent bg-accent text-on-accent'
                  : 'border-line-strong bg-surface text-ink hover:bg-sunken',
              )}
            >
              {value === '' ? t('Todos') : CATEGORY_WORDS()[value]}{' '}
              <span className="tabular-nums">{count}</span>
            </button>
          )
        })}
      </div>
    </div>
  )
}
