import { useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { Card } from '../../../components/Card.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { time } from '../../../format/date.ts'
import { findWarnings } from './find-warnings.ts'
import { healthQuery, type Health } from './health-queries.ts'
import { JobsCard } from './JobsCard.tsx'
import { NodesCard } from './NodesCard.tsx'
import { PauseService } from './PauseService.tsx'
import { QueuesCard } from './QueuesCard.tsx'
import { ThisNodeCard } from './ThisNodeCard.tsx'
import { VitalSigns } from './VitalSigns.tsx'
import { t } from '../../../language/t.ts'

export function HealthPage() {
  const { data, isPending, isError, error, refetch } = useQuery(healthQuery)
  return (
    <>
      <PageTitle
        title={t('Saúde')}
        description={
          data
            ? t('Nós, filas e trabalhos. Vista às {at}; atualiza sozinha.', { at: time(data.at) })
            : t('Nós, filas e trabalhos do serviço.')
        }
        actions={data && <PauseService pause={data.pause} />}
      />
      {isPending && (
        <Card>
          <SkeletonRows rows={8} label={t('Carregando a saúde do serviço')} />
        </Card>
      )}
      {isError && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data && (
        <div className="grid gap-5">
          <Verdict health={data} />
          <VitalSigns health={data} />
          <NodesCard nodes={data.nodes} at={data.at} />
          <QueuesCard queues={data.queues} at={data.at} />
          <ThisNodeCard node={data.this_node} at={data.at} />
          <JobsCard jobs={data.jobs} />
        </div>
      )}
    </>
  )
}

function Verdict({ health }: { readonly health: Health }) {
  const warnings = findWarnings(health)
  if (warnings.length === 0)
    return (
      <p
        role="status"
        className="flex items-center gap-3 rounded-card bg-success-soft px-5 py-4 text-lg font-semibold text-success"
      >
        <CircleCheck aria-hidden="true" className="size-6 shrink-0" />
        {t('Tudo em ordem')}
      </p>
    )
  return (
    <div role="status" className="rounded-card bg-warning-soft px-5 py-4 text-warning">
      <p className="flex items-center gap-3 text-lg font-semibold">
        <CircleAlert aria-hidden="true" className="size-6 shrink-0" />
        {t('Algo pede atenção')}
      </p>
      <ul className="mt-2 grid list-disc gap-1 pl-14 text-sm font-medium">
        {warnings.map((warning) => (
          <li key={warning} className="break-words">
            {warning}
          </li>
        ))}
      </ul>
    </div>
  )
}
