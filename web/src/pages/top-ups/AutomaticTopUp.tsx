import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { AutomaticTopUpForm } from './AutomaticTopUpForm.tsx'
import { AutomaticTopUpSummary, WhyOff } from './AutomaticTopUpSummary.tsx'
import { automaticTopUpQuery, paymentMethodsQuery } from './top-up-queries.ts'
import { t } from '../../language/t.ts'

export function AutomaticTopUp() {
  const setting = useQuery(automaticTopUpQuery)
  const cards = useQuery(paymentMethodsQuery)
  const [isEditing, setIsEditing] = useState(false)
  const failure = setting.error ?? cards.error
  const current = setting.data
  const isOn = current?.is_enabled === true
  return (
    <Card
      title={t('Recarga automática')}
      actions={
        <Badge tone={isOn ? 'success' : 'neutral'}>{isOn ? t('Ligada') : t('Desligada')}</Badge>
      }
    >
      {(setting.isPending || cards.isPending) && <Skeleton className="h-20" />}
      {failure && <ErrorState error={failure} onRetry={() => void setting.refetch()} />}
      {current !== undefined && cards.data && (
        <div className="grid gap-4">
          {current?.disabled_reason && <WhyOff reason={current.disabled_reason} />}
          {isEditing ? (
            <AutomaticTopUpForm
              current={current}
              cards={cards.data}
              onDone={() => setIsEditing(false)}
            />
          ) : (
            <>
              <AutomaticTopUpSummary current={current} cards={cards.data} />
              {cards.data.length > 0 && (
                <Button
                  variant="secondary"
                  className="justify-self-start"
                  onClick={() => setIsEditing(true)}
                >
                  {isOn ? t('Alterar') : t('Ligar recarga automática')}
                </Button>
              )}
            </>
          )}
        </div>
      )}
    </Card>
  )
}
