import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CreditCard, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { useToast } from '../../components/Toast.tsx'
import { NewCardDialog } from './NewCardDialog.tsx'
import { automaticTopUpQuery, paymentMethodsQuery, type SavedCard } from './top-up-queries.ts'
import { cardText } from './top-up-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function Cards() {
  const cards = useQuery(paymentMethodsQuery)
  const [isAdding, setIsAdding] = useState(false)
  const [leaving, setLeaving] = useState<SavedCard>()
  return (
    <Card
      title={t('Cartões')}
      actions={
        <Button variant="secondary" onClick={() => setIsAdding(true)}>
          <Plus aria-hidden="true" className="size-4" />
          {t('Novo cartão')}
        </Button>
      }
    >
      {cards.isPending && <Skeleton className="h-16" />}
      {cards.isError && <ErrorState error={cards.error} onRetry={() => void cards.refetch()} />}
      {cards.data?.length === 0 && (
        <EmptyState title={t('Nenhum cartão salvo')} icon={<CreditCard className="size-6" />}>
          {t('Com um cartão você recarrega na hora e pode ligar a recarga automática.')}
        </EmptyState>
      )}
      {cards.data && cards.data.length > 0 && (
        <ul className="divide-y divide-line">
          {cards.data.map((card) => (
            <li
              key={card.id}
              className="flex items-center justify-between gap-3 py-3 first:pt-0 last:pb-0"
            >
              <div className="min-w-0">
                <p className="font-medium">{cardText(card)}</p>
                <p className="truncate text-sm text-muted">
                  <Trans
                    id="{holderName} · vale até {padStart}/"
                    values={{
                      holderName: card.holder_name,
                      padStart: String(card.expiry_month).padStart(2, '0'),
                    }}
                  />
                  {card.expiry_year}
                </p>
              </div>
              <Button
                variant="quiet"

                aria-label={t('Excluir cartão {card}', { card: cardText(card) })}
                onClick={() => setLeaving(card)}
              >
                <Trash2 aria-hidden="true" className="size-4" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <NewCardDialog isOpen={isAdding} onClose={() => setIsAdding(false)} />
      <DeleteCard card={leaving} onClose={() => setLeaving(undefined)} />
    </Card>
  )
}

function DeleteCard({
  card,
  onClose,
}: {
  readonly card: SavedCard | undefined
  readonly onClose: () => void
}) {
  const queries = useQueryClient()
  const toast = useToast()
  const remove = useSubmit({
    mutationFn: (id: string) => api.delete('/payment-methods/{id}', { path: { id } }),
    async onSuccess() {
      onClose()
      toast(t('Cartão excluído.'))
      await Promise.all([
        queries.invalidateQueries({ queryKey: paymentMethodsQuery.queryKey }),
        queries.invalidateQueries({ queryKey: automaticTopUpQuery.queryKey }),
      ])
    },
  })
  return (
    <ConfirmDialog
      isOpen={card !== undefined}
      title={t('Excluir o cartão {word}?', { word: card ? cardText(card) : '' })}
      confirmText={t('Excluir cartão')}
      isBusy={remove.isPending}
      error={remove.isError ? explainError(remove.error) : undefined}
      onConfirm={() => card && remove.mutate(card.id)}
      onClose={() => {
        remove.reset()
        onClose()
      }}
    >
      {t('Se a recarga automática usa este cartão, ela será desligada.')}
    </ConfirmDialog>
  )
}
