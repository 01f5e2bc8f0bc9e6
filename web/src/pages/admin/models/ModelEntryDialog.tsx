import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode, type SubmitEvent } from 'react'
import { api, type Body } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { Dialog } from '../../../components/Dialog.tsx'
import { Field, type ControlProps } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Input } from '../../../components/Input.tsx'
import { Select } from '../../../components/Select.tsx'
import { dateTime } from '../../../format/date.ts'
import { wholeNumber } from '../../../format/number.ts'
import { t } from '../../../language/t.ts'
import { upstreamsQuery } from '../upstreams/upstream-queries.ts'
import { useAct } from '../use-act.ts'
import { MODELS_CHANGE, type AdminModel } from './admin-model-queries.ts'
import { CATEGORY_WORDS } from './admin-model-words.ts'

type Entry = Body<'put', '/admin/models/{id}'>
type Route = Entry['routes'][number]
/** As typed: empty fields are left out of the entry. */
type Typed = Readonly<Record<string, string>>

interface Props {
  /** Undefined for a new one. */
  readonly model: AdminModel | undefined
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Writes a model as the file does: what the form has no field for stays as it was written. */
export function ModelEntryDialog({ model, isOpen, onClose }: Props) {
  const title = model
    ? t('Rotas e preços de {name}', { name: model.display_name })
    : t('Acrescentar modelo')
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <Form model={model} onClose={onClose} />
    </Dialog>
  )
}

const PRICES = ['input', 'output', 'cached_input'] as const
const LIMITS = ['context_tokens', 'max_output_tokens'] as const

function Form({ model, onClose }: Pick<Props, 'model' | 'onClose'>) {
  const before = model?.entry ?? undefined
  const [typed, setTyped] = useState<Typed>(() => typedOf(model))
  const [routes, setRoutes] = useState<readonly Typed[]>(() => routesOf(model))
  const upstreams = useQuery(upstreamsQuery).data?.upstreams ?? []
  const id = model?.id ?? typed.id?.trim() ?? ''
  const path = { id }
  const put = useAct({
    act: () => api.put('/admin/models/{id}', entryOf(before, typed, routes), { path }),
    doneText: ({ prices_from: from }) =>
      from === null || new Date(from).getTime() <= Date.now()
        ? t('Modelo {id} salvo.', { id })
        : t('Modelo {id} salvo. O preço novo vale a partir de {day}.', { id, day: dateTime(from) }),
    onDone: onClose,
    changes: MODELS_CHANGE,
  })
  const drop = useAct({
    act: () => api.delete('/admin/models/{id}', { path }),
    doneText: () => t('O que foi salvo para {id} foi excluído.', { id }),
    onDone: onClose,
    changes: MODELS_CHANGE,
  })
  const error = put.error ?? drop.error
  const input = (name: string, label: string, more: object = {}): ReactNode => (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          {...more}
          autoComplete="off"
          value={typed[name] ?? ''}
          onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
        />
      )}
    </Field>
  )
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (!put.isPending) put.mutate()
  }
  const isNew = model === undefined
  const price = { inputMode: 'decimal', pattern: '\\d{1,6}([.,]\\d{1,6})?' }
  return (
    <form onSubmit={submit} className="grid gap-5">
      {isNew && input('id', t('Id'), { required: true, maxLength: 100 })}
      {input('display_name', t('Nome'), { maxLength: 100 })}
      {isNew && (
        <Field label={t('Categoria')}>
          {(control) => (
            <Select
              {...control}
              value={typed.category}
              onChange={(event) => setTyped({ ...typed, category: event.target.value })}
            >
              {(['llm', 'embedding'] as const).map((category) => (
                <option key={category} value={category}>
                  {CATEGORY_WORDS()[category]}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      <p className="text-sm text-muted">
        {isNew
          ? t('Preços em dólares por milhão de tokens, como o provedor os cobra.')
          : t(
              'Preços em dólares por milhão de tokens. Em branco, ficam os de agora. Uma redução vale já; um aumento, depois do aviso aos clientes.',
            )}
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        {input('input', t('Entrada'), { ...price, required: isNew })}
        {input('output', t('Saída'), { ...price, required: isNew && typed.category === 'llm' })}
        {input('cached_input', t('Entrada em cache'), price)}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        {input('context_tokens', t('Contexto, em tokens'), {
          placeholder: isNew ? wholeNumber(128_000) : undefined,
          inputMode: 'numeric',
          pattern: '\\d*',
        })}
        {input('max_output_tokens', t('Saída máxima, em tokens'), {
          placeholder: isNew ? wholeNumber(4_096) : undefined,
          inputMode: 'numeric',
          pattern: '\\d*',
        })}
      </div>
      <fieldset className="grid gap-4">
        <legend className="mb-2 font-semibold">{t('Rotas')}</legend>
        <p className="text-sm text-muted">
          {t(
            'A menor prioridade é chamada primeiro; rotas da mesma prioridade repartem as chamadas pelo peso.',
          )}
        </p>
        {routes.map((route, place) => (
          <RouteFields
            // Rows have no other identity than their place.
            key={place}
            place={place + 1}
            route={route}
            upstreams={upstreams.map((each) => each.id)}
            onChange={(changed) =>
              setRoutes(routes.map((each, at) => (at === place ? changed : each)))
            }
            onRemove={
              routes.length > 1
                ? () => setRoutes(routes.filter((_each, at) => at !== place))
                : undefined
            }
          />
        ))}
        <div>
          <Button
            variant="secondary"
            onClick={() => setRoutes([...routes, { priority: String(routes.length), weight: '1' }])}
          >
            {t('Acrescentar rota')}
          </Button>
        </div>
      </fieldset>
      {before && (
        <div>
          <Button variant="quiet" isBusy={drop.isPending} onClick={() => drop.mutate()}>
            {t('Excluir o que foi salvo aqui')}
          </Button>
        </div>
      )}
      <FormEnd
        error={error ? explainError(error) : undefined}
        submitLabel={t('Salvar')}
        isBusy={put.isPending}
        onCancel={onClose}
      />
    </form>
  )
}

function RouteFields(props: {
  readonly place: number
  readonly route: Typed
  readonly upstreams: readonly string[]
  readonly onChange: (route: Typed) => void
  readonly onRemove: (() => void) | undefined
}) {
  const { place, route, upstreams, onChange, onRemove } = props
  const set = (name: string) => (event: { target: { value: string } }) =>
    onChange({ ...route, [name]: event.target.value })
  const own = (control: ControlProps, name: string) => ({
    ...control,
    autoComplete: 'off',
    value: route[name] ?? '',
    onChange: set(name),
  })
  return (
    <div className="grid gap-3 rounded-lg bg-sunken p-3 sm:grid-cols-2">
      <Field label={t('Provedor da rota {place}', { place })}>
        {(control) => (
          <Select {...own(control, 'upstream')} required>
            <option value="">{t('Escolha')}</option>
            {[...new Set([...upstreams, ...(route.upstream ? [route.upstream] : [])])].map((id) => (
              <option key={id}>{id}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t('Nome do modelo no provedor, rota {place}', { place })}>
        {(control) => <Input {...own(control, 'model')} required maxLength={200} />}
      </Field>
      <Field label={t('Prioridade da rota {place}', { place })}>
        {(control) => (
          <Input {...own(control, 'priority')} required inputMode="numeric" pattern="\d{1,4}" />
        )}
      </Field>
      <Field label={t('Peso da rota {place}', { place })}>
        {(control) => (
          <Input
            {...own(control, 'weight')}
            required
            inputMode="decimal"
            pattern="\d{1,6}([.,]\d{1,6})?"
          />
        )}
      </Field>
      {onRemove && (
        <div className="sm:col-span-2">
          <Button
            variant="quiet"
            aria-label={t('Tirar a rota {place}', { place })}
            onClick={onRemove}
          >
            {t('Tirar')}
          </Button>
        </div>
      )}
    </div>
  )
}

function typedOf(model: AdminModel | undefined): Typed {
  const entry = model?.entry ?? undefined
  const prices = PRICES.map((name) => [name, String(entry?.prices?.[name] ?? '')])
  const limits = LIMITS.map((name) => [name, String(entry?.[name] ?? '')])
  return {
    category: 'llm',
    display_name: entry?.display_name ?? '',
    ...Object.fromEntries([...prices, ...limits]),
  }
}

function routesOf(model: AdminModel | undefined): readonly Typed[] {
  const written = model?.entry?.routes
  const known =
    written ??
    model?.routes.map(({ upstream, upstream_model, priority, weight }) => ({
      upstream,
      model: upstream_model,
      priority,
      weight,
    }))
  const routes = known?.length ? known : [{ upstream: '', model: '' }]
  return routes.map((route, at) => ({
    upstream: route.upstream,
    model: route.model,
    priority: String(route.priority ?? at),
    weight: String(route.weight ?? 1),
  }))
}

function entryOf(before: Entry | undefined, typed: Typed, routes: readonly Typed[]): Entry {
  const prices = {
    ...before?.prices,
    ...Object.fromEntries(
      PRICES.flatMap((name) => (typed[name] ? [[name, decimal(typed[name])]] : [])),
    ),
  }
  const limits = LIMITS.flatMap((name) => (typed[name] ? [[name, Number(typed[name])]] : []))
  const name = typed.display_name?.trim()
  // A known model is of its own category.
  const isWhole = Object.keys(prices).length > 0
  return {
    ...before,
    ...(isWhole && { prices, category: before?.category ?? (typed.category as 'llm') }),
    ...(name && { display_name: name }),
    ...Object.fromEntries(limits),
    routes: routes.map((route, at) => ({ ...before?.routes[at], ...routeOf(route) })),
  }
}

function routeOf({ upstream = '', model = '', priority, weight }: Typed): Route {
  return {
    upstream,
    model: model.trim(),
    priority: Number(priority),
    weight: Number(decimal(weight ?? '1')),
  }
}

function decimal(text: string): string {
  return text.trim().replace(',', '.')
}
