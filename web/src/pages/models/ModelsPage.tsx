import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { counted } from '../../format/number.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { CompareBar } from './CompareBar.tsx'
import { catalogQuery, type CatalogView } from './catalog-query.ts'
import { chooseModels, joinMeasures } from './choose-models.ts'
import { ModelFilterFields } from './ModelFilterFields.tsx'
import { ModelTable } from './ModelTable.tsx'
import { RateNotice } from './RateNotice.tsx'
import { Recommendations } from './Recommendations.tsx'
import { recommendationsQuery } from './recommendations-query.ts'
import { speedsQuery, type ModelSpeed } from './speed-queries.ts'
import { upstreamHealthQuery, type MakerHealth } from '../status/health-queries.ts'
import { t } from '../../language/t.ts'

/** As many as answer side by side in the playground. */
const COMPARED_MAX = 4

export function ModelsPage() {
  const found = useQuery(catalogQuery)
  const { data: session } = useQuery(sessionQuery)
  // They stand above the catalog, so the page waits for them: arriving later, they would push it down.
  const { isLoading } = useQuery({ ...recommendationsQuery, enabled: Boolean(session) })
  // A list in the order of what was measured would move when it arrives.
  const health = useQuery(upstreamHealthQuery)
  const speeds = useQuery(speedsQuery)
  const isPending =
    found.isPending || (found.isSuccess && (isLoading || health.isLoading || speeds.isLoading))
  return (
    <>
      <PageTitle
        title={t('Modelos')}
        description={t('Todos os modelos, com o preço em reais que você paga agora.')}
      />
      {isPending && (
        <Card>
          <SkeletonRows rows={10} label={t('Carregando o catálogo')} />
        </Card>
      )}
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {!isPending && found.data && (
        <Catalog
          catalog={found.data}
          makers={health.data?.providers ?? []}
          speeds={speeds.data?.models ?? []}
        />
      )}
    </>
  )
}

interface CatalogProps {
  readonly catalog: CatalogView
  readonly makers: readonly MakerHealth[]
  readonly speeds: readonly ModelSpeed[]
}

function Catalog({ catalog, makers, speeds }: CatalogProps) {
  const [filters, change] = useFilters('busca', 'categoria', 'faz', 'ordem', 'comparar')
  const measured = joinMeasures(catalog.models, makers, speeds)
  const shown = chooseModels(catalog.models, filters, measured)
  const out = shown.filter(({ available }) => !available).length
  const compared = filters.comparar
    .split(' ')
    .flatMap((id) => catalog.models.filter((model) => model.id === id))
    .slice(0, COMPARED_MAX)
  const compare = (ids: readonly string[]): void => change({ comparar: ids.join(' ') })
  const ids = compared.map(({ id }) => id)
  return (
    <div className="grid gap-5">
      <RateNotice rate={catalog.rate} />
      <Recommendations />
      <ModelFilterFields models={catalog.models} filters={filters} onChange={change} />
      <p role="status" className="text-sm text-muted">
        {counted(shown.length, t('modelo'), t('modelos'))}
        {out > 0 && t(', {count} fora do ar', { count: out })}
        <span className="max-lg:hidden">
          {'. '}
          {makers.length > 0 || speeds.length > 0
            ? t(
                '1º byte e tokens por segundo: medidos por modelo, em 30 dias. Disponibilidade, e o 1º byte de modelos com poucas chamadas: por fabricante, em 90 dias.',
              )
            : t('1º byte e disponibilidade aparecem quando houver chamadas medidas.')}
        </span>
      </p>
      {shown.length === 0 ? (
        <Card>
          <EmptyState
            icon={<Search className="size-6" />}
            title={t('Nenhum modelo com esse nome')}
            action={
              <Button
                variant="secondary"
                onClick={() => change({ busca: '', categoria: '', faz: '' })}
              >
                {t('Ver todos')}
              </Button>
            }
          >
            {t('Procure por uma parte do nome ou do fabricante, como “gpt” ou “anthropic”.')}
          </EmptyState>
        </Card>
      ) : (
        <ModelTable
          models={shown}
          measured={measured}
          comparedIds={ids}
          isFull={ids.length >= COMPARED_MAX}
          onToggle={(id) =>
            compare(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id])
          }
        />
      )}
      <CompareBar models={compared} onClear={() => compare([])} />
    </div>
  )
}
