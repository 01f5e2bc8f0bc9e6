import { onlineManager, usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { ofEverybody } from '../../api/cache-owner.ts'
import { api } from '../../api/client.ts'
import { incidentsQuery } from '../../api/incidents.ts'
import { Card } from '../../components/Card.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Incidents, ResolvedIncidents } from './Incidents.tsx'
import { ServiceState } from './ServiceState.tsx'
import { lastDayHealthQuery, upstreamHealthQuery } from './health-queries.ts'
import { UpstreamHealth } from './UpstreamHealth.tsx'
import { t } from '../../language/t.ts'

const REFRESH_MS = 60_000
const LINK = 'inline-flex min-h-6 items-center font-medium underline underline-offset-2'

function subscribeOnline(onChange: () => void): () => void {
  return onlineManager.subscribe(onChange)
}

export function StatusPage() {
  const isOnline = useSyncExternalStore(subscribeOnline, () => onlineManager.isOnline())
  const health = useQuery({
    ...ofEverybody,
    queryKey: ['healthz'],
    queryFn: () => api.get('/healthz'),
    refetchInterval: REFRESH_MS,
  })
  const incidents = useQuery(incidentsQuery)
  const lastDay = useQuery(lastDayHealthQuery)
  usePrefetchQuery(upstreamHealthQuery)
  return (
    <>
      <PageTitle title={t('Status')} description={t('Como estão a Catraca e os modelos agora.')} />
      {/* As high as the screen: the footer is never in view while things load above it. */}
      <div className="flex min-h-svh flex-col gap-5">
        <ServiceState answers={{ isOnline, health, incidents, lastDay }} />
        {/* Incidents stand above the providers, and would push them down. */}
        {incidents.isPending ? (
          <Card>
            <SkeletonRows />
          </Card>
        ) : (
          <>
            <Incidents incidents={incidents.data?.incidents ?? []} />
            <UpstreamHealth />
            <ResolvedIncidents incidents={incidents.data?.resolved ?? []} />
          </>
        )}
        <p className="flex flex-wrap gap-x-4 text-sm">
          <a className={LINK} href="/status.atom">
            {t('Feed de incidentes (Atom)')}
          </a>
          <a className={LINK} href="/perfil">
            {t('Avisos por e-mail')}
          </a>
        </p>
      </div>
    </>
  )
}
