import { ChevronsUpDown, Search } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { Dialog } from '../../components/Dialog.tsx'
import { Input } from '../../components/Input.tsx'
import { counted } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import type { CatalogModel } from '../models/catalog-query.ts'
import { chooseModels } from '../models/choose-models.ts'
import { amount } from '../usage/charge-words.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly models: readonly CatalogModel[]
  readonly modelId: string
  readonly onChoose: (id: string) => void
}

export function ModelChoice({ models, modelId, onChoose }: Props) {
  const [isOpen, setOpen] = useState(false)
  const model = models.find(({ id }) => id === modelId)
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={t('Modelo: {displayName}. Trocar', {
          displayName: model?.display_name ?? modelId,
        })}
        onClick={() => setOpen(true)}
        className="flex min-h-11 w-full min-w-0 items-center gap-3 rounded-lg border border-line-strong bg-surface px-3 text-left hover:bg-sunken md:min-h-10"
      >
        <span className="min-w-0 grow truncate text-sm font-semibold">
          {model?.display_name ?? modelId}
        </span>
        <ChevronsUpDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
      </button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('Escolher modelo')}
        description={t('Preços por milhão de tokens, entrada e saída.')}
        className="sm:max-w-xl!"
      >
        <ModelList
          models={models.filter(({ id, available }) => available || id === modelId)}
          modelId={modelId}
          onChoose={(id) => {
            onChoose(id)
            setOpen(false)
          }}
        />
      </Dialog>
    </>
  )
}

/** A search field whose arrow keys move through the results. */
function ModelList({ models, modelId, onChoose }: Props) {
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(() =>
    Math.max(
      models.findIndex((model) => model.id === modelId),
      0,
    ),
  )
  const id = useId()
  const chosen = useRef(active)
  useEffect(() => {
    // Waits until the dialog is rendered.
    const frame = requestAnimationFrame(() =>
      document.getElementById(`${id}-${chosen.current}`)?.scrollIntoView({ block: 'nearest' }),
    )
    return () => cancelAnimationFrame(frame)
  }, [id])
  const found = chooseModels(models, { busca: search, categoria: '', faz: '', ordem: '' })
  const optionId = (place: number): string => `${id}-${place}`
  const move = (by: number): void => {
    if (found.length === 0) return
    const next = (active + by + found.length) % found.length
    setActive(next)
    document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <div className="grid gap-3">
      <div className="relative">
        <Search
          aria-hidden="true"
          className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
        />
        <Input
          type="search"
          role="combobox"
          aria-label={t('Procurar modelo')}
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found[active] ? optionId(active) : undefined}
          autoComplete="off"
          spellCheck={false}
          // A dialog focuses the element with this attribute, which React does not render.
          ref={(field) => field?.setAttribute('autofocus', '')}
          placeholder={t('Nome ou fabricante')}
          value={search}
          onChange={(event) => {
            setSearch(event.target.value)
            setActive(0)
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') move(1)
            else if (event.key === 'ArrowUp') move(-1)
            else if (event.key === 'Enter' && found[active]) onChoose(found[active].id)
            else return
            event.preventDefault()
          }}
          className="pl-9"
        />
      </div>
      <p role="status" className="sr-only">
        {counted(found.length, t('modelo encontrado'), t('modelos encontrados'))}
      </p>
      <div
        id={id}
        role="listbox"
        aria-label={t('Modelos')}
        className="h-[min(24rem,50dvh)] overflow-y-auto rounded-lg border border-line p-1"
      >
        {found.map((model, place) => (
          <ModelOption
            key={model.id}
            id={optionId(place)}
            model={model}
            isChosen={model.id === modelId}
            isActive={place === active}
            onChoose={() => onChoose(model.id)}
          />
        ))}
      </div>
      {found.length === 0 && (
        <p className="text-sm text-muted">
          {t('Nenhum modelo com esse nome. Tente outra palavra.')}
        </p>
      )}
    </div>
  )
}

interface OptionProps {
  readonly id: string
  readonly model: CatalogModel
  readonly isChosen: boolean
  readonly isActive: boolean
  readonly onChoose: () => void
}

function ModelOption({ id, model, isChosen, isActive, onChoose }: OptionProps) {
  const [tier] = model.price?.tiers ?? []
  return (
    // By keyboard an option is chosen in the search field, which announces the active one.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      onClick={onChoose}
      className={classNames(
        'grid min-h-11 cursor-pointer grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 rounded-md px-3 py-2',
        isActive ? 'bg-accent-soft' : 'hover:bg-sunken',
      )}
    >
      <span className="min-w-0">
        <span className="block truncate text-sm font-medium">
          {model.display_name}
          {isChosen && <span className="font-normal text-muted">{t(' · em uso')}</span>}
        </span>
        <span className="block truncate text-xs text-muted">{aboutOf(model)}</span>
      </span>
      {tier && (
        <span className="text-right text-xs whitespace-nowrap text-muted tabular-nums">
          {amount(tier.input_brl)}
          <span className="block">{amount(tier.output_brl)}</span>
        </span>
      )}
    </div>
  )
}

function aboutOf({ id, description, price }: CatalogModel): string {
  return [price?.is_available === false && t('indisponível'), id, description]
    .filter(Boolean)
    .join(' · ')
}
