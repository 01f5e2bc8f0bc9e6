import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { counted } from '../../../format/number.ts'
import { useFilters } from '../../../lib/use-filters.ts'
import { PriceUpdates } from '../price-updates/PriceUpdates.tsx'
import { StateSwitch } from '../StateSwitch.tsx'
import { adminModelsQuery, type AdminModel } from './admin-model-queries.ts'
import { catalogQuery } from '../../models/catalog-query.ts'
import { upstreamsQuery } from '../upstreams/upstream-queries.ts'
import { AdminModelEntry } from './AdminModelEntry.tsx'
import { MarkupsDialog } from './MarkupsDialog.tsx'
import { ModelEntryDialog } from './ModelEntryDialog.tsx'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

const STATES = perLanguage(
  () =>
    ({ '': t('Todos'), desligados: t('Fora do ar'), mudancas: t('Com mudança marcada') }) as const,
)
type State = keyof ReturnType<typeof STATES>

export function AdminModelsPage() {
  const found = useQuery(adminModelsQuery)
  const catalog = useQuery(catalogQuery)
  const upstreams = useQuery(upstreamsQuery)
  // Their lines would push the models below down.
  const isPending = found.isPending || catalog.isLoading || upstreams.isLoading
  const [{ q, estado }, setFilters] = useFilters('q', 'estado')
  const [isMarking, setMarking] = useState(false)
  const [isAdding, setAdding] = useState(false)
  const models = (found.data?.models ?? []).filter(
    (model) => isNamed(model, q) && isInState(model, estado),
  )
  return (
    <>
      <PageTitle
        title={t('Modelos')}
        description={t('O que está no ar, quanto custa aos clientes e o que vai mudar.')}
        actions={
          <>
            <Button variant="secondary" disabled={!found.data} onClick={() => setMarking(true)}>
              {t('Mudar vários multiplicadores')}
            </Button>
            <Button onClick={() => setAdding(true)}>{t('Acrescentar modelo')}</Button>
          </>
        }
      />
      <PriceUpdates />
      <div className="mb-4 flex flex-wrap items-end gap-x-6 gap-y-3">
        <Field label={t('Buscar modelo')} className="w-full max-w-sm">
          {(control) => (
            <Input
              {...control}
              type="search"
              maxLength={100}
              value={q}
              onChange={(event) => setFilters({ q: event.target.value })}
            />
          )}
        </Field>
        <div className="-mb-4">
          <StateSwitch
            legend={t('Quais modelos')}
            states={STATES()}
            value={estado as State}
            onChange={(next) => setFilters({ estado: next })}
          />
        </div>
      </div>
      <Card>
        {isPending && <SkeletonRows rows={8} label={t('Carregando os modelos')} />}
        {found.isError && !found.data && (
          <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        )}
        {!isPending && found.data && (
          <>
            <p role="status" className="mb-4 text-sm text-muted">
              {counted(models.length, t('modelo'), t('modelos'))}
            </p>
            {models.length === 0 ? (
              <EmptyState icon={<Search className="size-6" />} title={t('Nenhum modelo assim')}>
                {t('Tire um filtro ou busque por outra palavra.')}
              </EmptyState>
            ) : (
              <ul className="divide-y divide-line">
                {models.map((model) => (
                  <AdminModelEntry
                    key={model.id}
                    model={model}
                    offered={catalog.data?.models.find(({ id }) => id === model.id)}
                    resting={(upstreams.data?.upstreams ?? []).filter(
                      ({ id, state }) =>
                        state !== 'active' && model.routes.some(({ upstream }) => upstream === id),
                    )}
                    noticeDays={found.data.markup_notice_days}
                  />
                ))}
              </ul>
            )}
          </>
        )}
      </Card>
      {found.data && (
        <MarkupsDialog
          models={found.data.models}
          noticeDays={found.data.markup_notice_days}
          isOpen={isMarking}
          onClose={() => setMarking(false)}
        />
      )}
      <ModelEntryDialog model={undefined} isOpen={isAdding} onClose={() => setAdding(false)} />
    </>
  )
}

function isNamed({ id, display_name: name, vendor }: AdminModel, q: string): boolean {
  const text = `${id} ${name} ${vendor}`.toLowerCase()
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function isInState({ is_disabled: isOff, scheduled }: AdminModel, state: string): boolean {
  if (state === 'desligados') return isOff
  return state === '' || (state === 'mudancas' && scheduled.length > 0)
}
