import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { brl } from '../../../format/brl.ts'
import { useAct } from '../use-act.ts'
import type { CustomerDetail } from './customer-queries.ts'

interface Props {
  readonly customer: CustomerDetail
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function SuspensionDialog({ customer, isOpen, onClose }: Props) {
  const { id, name, suspension, balance } = customer
  const path = { id }
  const isSuspended = suspension !== null
  const change = useAct({
    act: () =>
      isSuspended
        ? api.post('/admin/customers/{id}/reinstate', undefined, { path })
        : api.post('/admin/customers/{id}/suspend', undefined, { path }),
    doneText: ({ is_suspended: isNow }) =>
      isNow ? `A conta de ${name} está suspensa.` : `A conta de ${name} está ativa de novo.`,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => change.mutate()}
      title={isSuspended ? `Reativar a conta de ${name}?` : `Suspender a conta de ${name}?`}
      confirmText={isSuspended ? 'Reativar conta' : 'Suspender conta'}
      variant={isSuspended ? 'primary' : 'danger'}
      isBusy={change.isPending}
      error={change.error ? explainError(change.error) : undefined}
    >
      <p className="text-sm text-muted">
        {isSuspended
          ? `As chaves voltam a funcionar em segundos e podem gastar os ${brl(balance.available_brl)} livres.`
          : `Todas as chamadas de modelos são recusadas em segundos, e recargas automáticas param. Os ${brl(balance.balance_brl)} de saldo ficam na conta: nada é debitado nem devolvido. O painel segue aberto para o cliente.`}
      </p>
    </ConfirmDialog>
  )
}
