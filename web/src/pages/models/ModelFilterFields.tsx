import type { ReactNode } from 'react'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { classNames } from '../../lib/class-names.ts'
import type { CatalogModel, Category } from './catalog-query.ts'
import { ABILITIES, ABILITY_WORDS, type ModelFilters } from './choose-models.ts'
import { CATEGORY_WORDS } from './price-words.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly models: readonly CatalogModel[]
  readonly filters: ModelFilters
  readonly onChange: (change: Partial<ModelFilters>) => void
}

/** On a phone one line that scrolls, so that the first model is in view. */
const CHIPS = 'flex min-w-0 gap-2 max-sm:overflow-x-auto sm:flex-wrap'

export function ModelFilterFields({ models, filters, onChange }: Props) {
  const categories = (Object.keys(CATEGORY_WORDS()) as Category[])
    .map((value) => ({ value, count: models.filter(({ category }) => category === value).length }))
    .filter(({ count }) => count > 0)
  const choices = [{ value: '', count: models.length }, ...categories] as const
  const wanted = filters.faz.split(' ').filter((name) => name !== '')
  return (
    <div role="search" aria-label={t('Procurar modelos')} className="grid gap-3">
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_15rem]">
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
              <option value="velocidade">{t('Mais rápido primeiro')}</option>
              <option value="vazao">{t('Mais tokens por segundo primeiro')}</option>
              <option value="disponibilidade">{t('Mais disponível primeiro')}</option>
              <option value="nome">{t('Nome')}</option>
            </Select>
          )}
        </Field>
      </div>
      <div role="group" aria-label={t('Tipo de modelo')} className={CHIPS}>
        {choices.map(({ value, count }) => (
          <Chip
            key={value}
            isChosen={filters.categoria === value}
            onClick={() => onChange({ categoria: value })}
          >
            {value === '' ? t('Todos') : CATEGORY_WORDS()[value]}{' '}
            <span className="tabular-nums">{count}</span>
          </Chip>
        ))}
      </div>
      <div role="group" aria-label={t('O que o modelo faz')} className={CHIPS}>
        {Object.entries(ABILITIES).map(([name, isAble]) => {
          const isChosen = wanted.includes(name)
          const count = models.filter((model) => isAble(model)).length
          if (count === 0 && !isChosen) return null
          return (
            <Chip
              key={name}
              isChosen={isChosen}
              onClick={() =>
                onChange({
                  faz: (isChosen ? wanted.filter((each) => each !== name) : [...wanted, name]).join(
                    ' ',
                  ),
                })
              }
            >
              {ABILITY_WORDS()[name]} <span className="tabular-nums">{count}</span>
            </Chip>
          )
        })}
      </div>
    </div>
  )
}

interface ChipProps {
  readonly isChosen: boolean
  readonly onClick: () => void
  readonly children: ReactNode
}

function Chip({ isChosen, onClick, children }: ChipProps) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onClick}
      className={classNames(
        'min-h-11 shrink-0 rounded-full border px-4 whitespace-nowrap text-sm font-medium md:min-h-9',
        isChosen
          ? 'border-accent bg-accent text-on-accent'
          : 'border-line-strong bg-surface text-ink hover:bg-sunken',
      )}
    >
      {children}
    </button>
  )
}
