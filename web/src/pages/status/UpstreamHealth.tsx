import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Table } from '../../components/Table.tsx'
import { HEALTH_DAYS, upstreamHealthQuery, type MakerHealth } from './health-queries.ts'
import { UptimeBars } from './UptimeBars.tsx'
import { makerWords } from '../models/MakerMark.tsx'
import { percent, wholeNumber } from '../../format/number.ts'
import { t } from '../../language/t.ts'

function barsOf(now: number) {
  return (health: MakerHealth) => <UptimeBars health={health} days={HEALTH_DAYS} now={now} />
}

export function UpstreamHealth() {
  const { data, dataUpdatedAt, isError, error, refetch } = useQuery(upstreamHealthQuery)
  return (
    <Card
      title={t('Fabricantes de modelos')}
      description={t('Os últimos {days} dias, medidos nas chamadas de todos os clientes.', {
        days: HEALTH_DAYS,
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
            {
              key: 'provider',
              header: t('Fabricante'),
              cell: ({ provider }) => makerWords(provider),
            },
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
