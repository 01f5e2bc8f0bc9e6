import { ReasonField } from './ReasonField.tsx'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { brl } from '../../../format/brl.ts'
import { useAct } from '../use-act.ts'
import type { CustomerDetail } from './customer-queries.ts'
import { lineOf } from './line-of.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly customer: CustomerDetail
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function SuspensionDialog({ customer, isOpen, onClose }: Props) {
  const { id, name, suspension, balance } = customer
  const path = { id }
  const isSuspended = suspension !== null
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const change = useAct({
    act: () =>
      isSuspended
        ? api.post('/admin/customers/{id}/reinstate', undefined, { path })
        : api.post('/admin/customers/{id}/suspend', { reason: lineOf(reason) }, { path }),
    doneText: ({ is_suspended: isNow }) =>
      isNow
        ? t('A conta de {name} está suspensa.', { name })
        : t('A conta de {name} está ativa de novo.', { name }),
    onDone() {
      setReason('')
      onClose()
    },
  })
  const confirm = (): void => {
    const isMissing = !isSuspended && lineOf(reason).length < 3
    setFault(isMissing ? t('Escreva o motivo, com ao menos 3 letras.') : undefined)
    if (!isMissing) change.mutate()
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={confirm}
      title={
        isSuspended
          ? t('Reativar a conta de {name}?', { name })
          : t('Suspender a conta de {name}?', { name })
      }
      confirmText={isSuspended ? t('Reativar conta') : t('Suspender conta')}
      variant={isSuspended ? 'primary' : 'danger'}
      isBusy={change.isPending}
      error={change.error ? explainError(change.error) : undefined}
    >
      <p className="text-sm text-muted">
        {isSuspended
          ? t('As chaves voltam a funcionar em segundos e podem gastar os {availableBrl} livres.', {
              availableBrl: brl(balance.available_brl),
            })
          : t(
              'Todas as chamadas de modelos e todas as recargas são recusadas em segundos, e o que estiver em aberto por Pix ou boleto é cancelado. Os {balanceBrl} de saldo ficam na conta: nada é debitado nem devolvido. O painel segue aberto para o cliente.',
              { balanceBrl: brl(balance.balance_brl) },
            )}
      </p>
      {!isSuspended && (
        <ReasonField
          hint={t('O cliente lê este texto no painel e no e-mail.')}
          fault={fault}
          maxLength={300}
          reason={reason}
          onChange={setReason}
        />
      )}
    </ConfirmDialog>
  )
}
