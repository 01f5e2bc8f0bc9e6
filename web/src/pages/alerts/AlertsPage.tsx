import { useQuery } from '@tanstack/react-query'
import { BellRing, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { AlertDialog } from './AlertDialog.tsx'
import { AlertEntry } from './AlertEntry.tsx'
import { alertsQuery, type Alert } from './alert-queries.ts'
import { t } from '../../language/t.ts'

export function AlertsPage() {
  const found = useQuery(alertsQuery)
  // `null`: a new alert. Undefined: the dialog is closed.
  const [edited, setEdited] = useState<Alert | null>()
  const create = (
    <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setEdited(null)}>
      {t('Criar alerta')}
    </Button>
  )
  const alerts = found.data?.alerts ?? []
  return (
    <>
      <PageTitle
        title={t('Alertas')}
        description={t(
          'Saiba antes que o saldo acabe, que o gasto dispare ou que os erros se acumulem.',
        )}
        actions={alerts.length > 0 && create}
      />
      {found.isPending && (
        <Card>
          <SkeletonRows label={t('Carregando os alertas')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && alerts.length === 0 && (
        <Card>
          <EmptyState
            icon={<BellRing className="size-6" />}
            title={t('Nenhum alerta ainda')}
            action={create}
          >
            {t('Crie o primeiro: por exemplo, um e-mail quando o saldo fica abaixo de R$ 50,00.')}
          </EmptyState>
        </Card>
      )}
      {alerts.length > 0 && (
        <ul className="grid gap-3">
          {alerts.map((alert) => (
            <AlertEntry key={alert.id} alert={alert} onEdit={() => setEdited(alert)} />
          ))}
        </ul>
      )}
      <AlertDialog
        key={edited?.id ?? 'novo'}
        alert={edited ?? undefined}
        isOpen={edited !== undefined}
        onClose={() => setEdited(undefined)}
      />
    </>
  )
}
