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
import { chooseModels } from './choose-models.ts'
import { ModelFilterFields } from './ModelFilterFields.tsx'
import { ModelTable } from './ModelTable.tsx'
import { RateNotice } from './RateNotice.tsx'
import { Recommendations } from './Recommendations.tsx'
import { recommendationsQuery } from './recommendations-query.ts'
import { t } from '../../language/t.ts'

/** More than three columns are hard to compare and do not fit on a phone. */
const COMPARED_MAX = 3

export function ModelsPage() {
  const found = useQuery(catalogQuery)
  const { data: session } = useQuery(sessionQuery)
  // They stand above the catalog, so the page waits for them: arriving later, they would push it down.
  const { isLoading } = useQuery({ ...recommendationsQuery, enabled: Boolean(session) })
  const isPending = found.isPending || (found.isSuccess && isLoading)
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
      {!isPending && found.data && <Catalog catalog={found.data} />}
    </>
  )
}

function Catalog({ catalog }: { readonly catalog: CatalogView }) {
  const [filters, change] = useFilters('busca', 'categoria', 'ordem', 'comparar')
  const shown = chooseModels(catalog.models, filters)
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
      </p>
      {shown.length === 0 ? (
        <Card>
          <EmptyState
            icon={<Search className="size-6" />}
            title={t('Nenhum modelo com esse nome')}
            action={
              <Button variant="secondary" onClick={() => change({ busca: '', categoria: '' })}>
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
