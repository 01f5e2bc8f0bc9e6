import { useQuery } from '@tanstack/react-query'
import { ChartNoAxesGantt, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { t } from '../../language/t.ts'
import { DestinationCard } from './DestinationCard.tsx'
import { DestinationDialog } from './DestinationDialog.tsx'
import { DESTINATIONS_MAX, destinationsQuery } from './destination-queries.ts'

export function UsageDestinationsPage() {
  const found = useQuery(destinationsQuery)
  const [isCreating, setCreating] = useState(false)
  const destinations = found.data?.destinations ?? []
  const create = (
    <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setCreating(true)}>
      {t('Criar destino')}
    </Button>
  )
  return (
    <>
      <PageTitle
        title={t('Destinos de uso')}
        description={t(
          'Cada cobrança vira um span no seu Langfuse ou coletor OTLP, com tokens e custo, sem prompts nem respostas.',
        )}
        actions={destinations.length > 0 && destinations.length < DESTINATIONS_MAX && create}
      />
      {found.isPending && (
        <Card>
          <SkeletonRows label={t('Carregando os destinos')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && destinations.length === 0 && (
        <Card>
          <EmptyState
            icon={<ChartNoAxesGantt className="size-6" />}
            title={t('Nenhum destino ainda')}
            action={create}
          >
            {t(
              'Acompanhe o uso onde você já acompanha o resto: Langfuse, Grafana, Honeycomb ou qualquer coletor OpenTelemetry. Suas chamadas nunca esperam por isso.',
            )}
          </EmptyState>
        </Card>
      )}
      <div className="grid gap-5">
        {destinations.map((destination) => (
          <DestinationCard key={destination.id} destination={destination} />
        ))}
      </div>
      <DestinationDialog
        destination={undefined}
        isOpen={isCreating}
        onClose={() => setCreating(false)}
      />
    </>
  )
}
