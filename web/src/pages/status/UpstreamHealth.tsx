import { queryOptions, useQuery } from '@tanstack/react-query'
import { ofEverybody } from '../../api/cache-owner.ts'
import { api, type Answer } from '../../api/client.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Table } from '../../components/Table.tsx'
import { UptimeBars } from './UptimeBars.tsx'
import { percent, wholeNumber } from '../../format/number.ts'
import { t } from '../../language/t.ts'

const DAYS = 90

const healthQuery = (days: number) =>
  queryOptions({
    ...ofEverybody,
    queryKey: ['upstream-health', days],
    queryFn: () => api.get('/upstream-health', { query: { days } }),
  })

export const upstreamHealthQuery = healthQuery(DAYS)
/** What the headline looks at: a fault of last week is over. */
export const lastDayHealthQuery = healthQuery(1)

type Provider = Answer<'get', '/upstream-health'>['providers'][number]

function barsOf(now: number) {
  return (health: Provider) => <UptimeBars health={health} days={DAYS} now={now} />
}

export function UpstreamHealth() {
  const { data, dataUpdatedAt, isError, error, refetch } = useQuery(upstreamHealthQuery)
  return (
    <Card
      title={t('Fabricantes de modelos')}
      description={t('Os últimos {days} dias, medidos nas chamadas de todos os clientes.', {
        days: DAYS,
      })}
    >
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && !data && <SkeletonRows />}
      {data?.providers.length === 0 && (
        <EmptyState title={t('Ainda sem medições')}>
          {t('A disponibilidade e o tempo de resposta de cada fabricante aparecem com o uso.')}
        </EmptyState>
      )}
      {data && data.providers.length > 0 && (
        <Table
          caption={t('Disponibilidade e tempo de resposta por fabricante')}
          rows={data.providers}
          rowKey={({ provider }) => provider}
          columns={[
            { key: 'provider', header: t('Fabricante'), cell: ({ provider }) => provider },
            {
              key: 'days',
              header: t('Cada dia'),
              isSecondary: true,
              cell: barsOf(dataUpdatedAt),
            },
            {
              key: 'uptime',
              header: t('Disponível'),
              isNumeric: true,
              cell: ({ uptime_percent }) => percent(uptime_percent),
            },
            {
              key: 'p50',
              header: t('Mediana'),
              isNumeric: true,
              cell: ({ p50_ms }) => milliseconds(p50_ms),
            },
            {
              key: 'p95',
              header: t('p95'),
              isNumeric: true,
              isSecondary: true,
              cell: ({ p95_ms }) => milliseconds(p95_ms),
            },
            {
              key: 'requests',
              header: t('Chamadas'),
              isNumeric: true,
              isSecondary: true,
              cell: ({ requests }) => wholeNumber(requests),
            },
          ]}
        />
      )}
    </Card>
  )
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : `${wholeNumber(value)} ms`
}
