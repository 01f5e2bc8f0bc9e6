import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { PageTitle } from '../../components/PageTitle.tsx'
import { Incidents } from './Incidents.tsx'
import { ServiceState } from './ServiceState.tsx'
import { UpstreamHealth } from './UpstreamHealth.tsx'

const REFRESH_MS = 60_000

export function StatusPage() {
  const health = useQuery({
    queryKey: ['healthz'],
    queryFn: () => api.get('/healthz'),
    refetchInterval: REFRESH_MS,
  })
  const incidents = useQuery({
    queryKey: ['incidents'],
    queryFn: () => api.get('/incidents/active'),
    refetchInterval: REFRESH_MS,
  })
  return (
    <>
      <PageTitle
        title="Status"
        description="Como estão a Catraca e os provedores de modelos agora."
      />
      <div className="flex flex-col gap-5">
        <ServiceState
          isUp={health.isSuccess}
          isChecking={health.isPending}
          incidents={incidents.data?.incidents}
        />
        <Incidents incidents={incidents.data?.incidents ?? []} />
        <UpstreamHealth />
      </div>
    </>
  )
}
