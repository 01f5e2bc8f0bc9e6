import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { AddUpstream } from './AddUpstream.tsx'
import { upstreamsQuery } from './upstream-queries.ts'
import { UpstreamEntry } from './UpstreamEntry.tsx'
import { t } from '../../../language/t.ts'

export function AdminUpstreamsPage() {
  const found = useQuery(upstreamsQuery)
  const [isAdding, setAdding] = useState(false)
  return (
    <>
      <PageTitle
        title={t('Provedores')}
        description={t('Quem responde às chamadas: da configuração, ou acrescentado aqui.')}
        actions={<Button onClick={() => setAdding(true)}>{t('Acrescentar provedor')}</Button>}
      />
      <Card>
        {found.isPending && <SkeletonRows rows={4} label={t('Carregando os provedores')} />}
        {found.isError && !found.data && (
          <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        )}
        {found.data && (
          <ul className="divide-y divide-line">
            {found.data.upstreams.map((upstream) => (
              <UpstreamEntry key={`${upstream.source} ${upstream.id}`} upstream={upstream} />
            ))}
          </ul>
        )}
      </Card>
      <AddUpstream
        kinds={found.data?.kinds ?? []}
        isOpen={isAdding}
        onClose={() => setAdding(false)}
      />
    </>
  )
}
