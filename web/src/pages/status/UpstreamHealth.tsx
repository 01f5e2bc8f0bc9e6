import { useQuery } from '@tanstack/react-query'
import { ofEverybody } from '../../api/cache-owner.ts'
import { api } from '../../api/client.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Table } from '../../components/Table.tsx'
import { percent, wholeNumber } from '../../format/number.ts'

const DAYS = 30

export function UpstreamHealth() {
  const { data, isError, error, refetch } = useQuery({
    ...ofEverybody,
    queryKey: ['upstream-health', DAYS],
    queryFn: () => api.get('/upstream-health', { query: { days: DAYS } }),
  })
  return (
    <Card
      title="Provedores de modelos"
      description={`Os últimos ${DAYS} dias, medidos nas chamadas de todos os clientes.`}
    >
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && !data && <SkeletonRows />}
      {data?.providers.length === 0 && (
        <EmptyState title="Ainda sem medições">
          A disponibilidade e o tempo de resposta de cada provedor aparecem com o uso.
        </EmptyState>
      )}
      {data && data.providers.length > 0 && (
        <Table
          caption="Disponibilidade e tempo de resposta por provedor"
          rows={data.providers}
          rowKey={({ provider }) => provider}
          columns={[
            { key: 'provider', header: 'Provedor', cell: ({ provider }) => provider },
            {
              key: 'uptime',
              header: 'Disponível',
              isNumeric: true,
              cell: ({ uptime_percent }) => percent(uptime_percent),
            },
            {
              key: 'p50',
              header: 'Mediana',
              isNumeric: true,
              cell: ({ p50_ms }) => milliseconds(p50_ms),
            },
            {
              key: 'p95',
              header: '95% até',
              isNumeric: true,
              isSecondary: true,
              cell: ({ p95_ms }) => milliseconds(p95_ms),
            },
            {
              key: 'requests',
              header: 'Chamadas',
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
