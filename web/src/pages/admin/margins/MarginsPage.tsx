import { useQuery } from '@tanstack/react-query'
import { ChartColumnStacked } from 'lucide-react'
import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Field } from '../../../components/Field.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { Select } from '../../../components/Select.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { useFilters } from '../../../lib/use-filters.ts'
import { MarginBars } from './MarginBars.tsx'
import { marginsQuery, type Margins } from './margin-queries.ts'
import { PERIOD_NAMES, periodOf, windowOf } from './margin-periods.ts'
import { MarginTable, MarginTableOfDays } from './MarginTable.tsx'
import { MarginTiles } from './MarginTiles.tsx'
import { t } from '../../../language/t.ts'

export function MarginsPage() {
  const [{ periodo }, setFilters] = useFilters('periodo')
  const period = periodOf(periodo)
  const found = useQuery(marginsQuery(windowOf(period)))
  return (
    <>
      <PageTitle
        title={t('Margens')}
        description={t(
          'O que as chamadas custaram nos provedores e o que os clientes pagaram por elas.',
        )}
        actions={
          <Field label={t('Período')} className="w-full sm:w-56">
            {(control) => (
              <Select
                {...control}
                value={period}
                onChange={(event) => setFilters({ periodo: event.target.value })}
              >
                {PERIOD_NAMES().map(([each, name]) => (
                  <option key={each} value={each}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        }
      />
      {found.isPending && (
        <Card>
          <SkeletonRows label={t('Somando as margens')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && <Report margins={found.data} />}
    </>
  )
}

function Report({ margins }: { readonly margins: Margins }) {
  const { totals, by_day: days, by_model: models, by_upstream: upstreams } = margins
  if (totals.requests === 0)
    return (
      <Card>
        <EmptyState
          icon={<ChartColumnStacked className="size-6" />}
          title={t('Nenhuma chamada cobrada neste período')}
        >
          {t(
            'Assim que os clientes fizerem chamadas, o custo e a margem aparecem aqui. Escolha outro período para ver o que já houve.',
          )}
        </EmptyState>
      </Card>
    )
  return (
    <div className="grid gap-5">
      <MarginTiles totals={totals} />
      <Card title={t('Por dia')} description={t('Dias no horário de Brasília.')}>
        <MarginBars days={days} />
        <MarginTableOfDays days={days} />
      </Card>
      <Card title={t('Por modelo')}>
        <MarginTable
          caption={t('Margem por modelo')}
          nameHeader={t('Modelo')}
          rows={models.map(({ model_id, ...sums }) => ({ name: model_id, ...sums }))}
        />
      </Card>
      <Card title={t('Por provedor')}>
        <MarginTable
          caption={t('Margem por provedor')}
          nameHeader={t('Provedor')}
          rows={upstreams.map(({ upstream, ...sums }) => ({
            name: upstream ?? t('não se sabe'),
            ...sums,
          }))}
        />
      </Card>
      <Card title={t('Como é o cálculo')}>
        <p className="max-w-prose text-sm text-muted">
          {t(
            'O custo em reais soma cada chamada no câmbio com que ela foi cobrada; o cobrado soma o que saiu do saldo de cada cliente. Crédito promocional usado conta como cobrado, e créditos, recargas, reembolsos e taxas do processador de pagamentos não entram. O custo é o que os nossos preços dizem: se a fatura do provedor diz outra coisa, a conciliação mostra.',
          )}
        </p>
      </Card>
    </div>
  )
}
