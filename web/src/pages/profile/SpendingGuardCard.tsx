import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SpendingGuardForm } from './SpendingGuardForm.tsx'
import { spendingGuardQuery } from './spending-guard-queries.ts'
import { t } from '../../language/t.ts'

export function SpendingGuardCard() {
  const guard = useQuery(spendingGuardQuery)
  return (
    <Card
      title={t('Gasto fora do padrão')}
      description={t(
        'Uma chave que, em 60 minutos, gasta muito mais que na hora de maior gasto dos últimos 35 dias é pausada. Você recebe um e-mail e a retoma em Chaves, com um clique.',
      )}
    >
      {guard.isError && <ErrorState error={guard.error} onRetry={() => void guard.refetch()} />}
      {guard.data && <SpendingGuardForm guard={guard.data} />}
    </Card>
  )
}
