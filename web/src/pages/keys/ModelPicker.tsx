import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useDeferredValue, useId, useState } from 'react'
import { Choice } from '../../components/Choice.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Input } from '../../components/Input.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { counted } from '../../format/number.ts'
import { keyModelsQuery, type Model } from './key-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const CATEGORY = perLanguage((): Readonly<Record<Model['category'], string>> => ({
  llm: t('Chat'),
  image: t('Imagem'),
  video: t('Vídeo'),
  embedding: t('Embedding'),
  audio: t('Áudio'),
}))

interface ModelPickerProps {
  /** `null`: all models. */
  readonly value: ReadonlySet<string> | null
  readonly onChange: (value: ReadonlySet<string> | null) => void
  readonly error: string | undefined
}

export function ModelPicker({ value, onChange, error }: ModelPickerProps) {
  const models = useQuery(keyModelsQuery)
  const count = models.data?.filter(({ available }) => available).length
  return (
    <div className="grid gap-3">
      <Choice
        legend={t('Modelos que a chave pode usar')}
        value={value === null ? 'all' : 'some'}
        onChange={(which) => onChange(which === 'all' ? null : new Set())}
        options={[
          {
            value: 'all',
            text: t('Todos'),
            hint:
              count === undefined
                ? undefined
                : t('Os {count} disponíveis hoje, e os que vierem', { count }),
          },
          {
            value: 'some',
            text: t('Só alguns'),
            hint:
              value === null
                ? t('Você escolhe')
                : counted(value.size, t('escolhido'), t('escolhidos')),
          },
        ]}
      />
      {error !== undefined && (
        <p role="alert" className="text-sm font-medium text-danger">
          {error}
        </p>
      )}
      {value !== null && models.isPending && <SkeletonRows />}
      {value !== null && models.isError && (
        <ErrorState error={models.error} onRetry={() => void models.refetch()} />
      )}
      {value !== null && models.data && (
        <List models={models.data} chosen={value} onChange={onChange} />
      )}
    </div>
  )
}

interface ListProps {
  readonly models: readonly Model[]
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

function List({ models, chosen, onChange }: ListProps) {
  const [search, setSearch] = useState('')
  const [showsAll, setShowsAll] = useState(false)
  const unavailable = models.filter(({ id, available }) => !available && !chosen.has(id)).length
  const wanted = useDeferredValue(search.trim().toLowerCase())
  const id = useId()
  const found = models
    // Models that no provider serves are left out, unless they were chosen before.
    .filter((model) => showsAll || model.available || chosen.has(model.id))
    .filter((model) =>
      wanted
        .split(/\s+/)
        .every((word) =>
          `${model.id} ${model.display_name} ${model.upstream} ${CATEGORY()[model.category]}`
            .toLowerCase()
            .includes(word),
        ),
    )
  const toggle = (modelId: string): void => {
    const next = new Set(chosen)
    if (!next.delete(modelId)) next.add(modelId)
    onChange(next)
  }
  return (
    <div className="overflow-hidden rounded-lg border border-line-strong">
      <div className="relative border-b border-line">
        <Search
          aria-hidden="true"
          className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
        />
        <Input
          type="search"
          aria-label={t('Procurar modelo')}
          aria-controls={id}
          placeholder={t('Procurar por nome ou fabricante')}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            // Enter would submit the surrounding form.
            if (event.key === 'Enter') event.preventDefault()
          }}
          className="rounded-none border-0 pl-9"
        />
      </div>
      <p role="status" className="sr-only">
        {counted(found.length, t('modelo encontrado'), t('modelos encontrados'))}
      </p>
      <ul id={id} className="max-h-64 overflow-y-auto p-1">
        {found.map((model) => (
          <li key={model.id}>
            <label className="grid min-h-11 cursor-pointer grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 rounded-md px-2 py-1 hover:bg-sunken">
              <input
                type="checkbox"
                checked={chosen.has(model.id)}
                onChange={() => toggle(model.id)}
                className="row-span-2 size-5 accent-accent"
              />
              <span className="truncate text-sm font-medium">{model.display_name}</span>
              <span className="truncate text-xs text-muted">
                {model.id} · {CATEGORY()[model.category]}
                {!model.available && t(' · indisponível')}
              </span>
            </label>
          </li>
        ))}
        {found.length === 0 && (
          <li className="px-3 py-6 text-center text-sm text-muted">
            {t('Nenhum modelo com este nome. Tente outra palavra.')}
          </li>
        )}
      </ul>
      {(unavailable > 0 || showsAll) && (
        <label className="flex min-h-11 cursor-pointer items-center gap-3 border-t border-line px-3 text-sm text-muted">
          <input
            type="checkbox"
            checked={showsAll}
            onChange={() => setShowsAll(!showsAll)}
            className="size-5 accent-accent"
          />
          {t('Mostrar também os indisponíveis')}
        </label>
      )}
    </div>
  )
}
