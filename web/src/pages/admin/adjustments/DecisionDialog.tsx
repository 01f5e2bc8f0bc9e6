import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { brl } from '../../../format/brl.ts'
import { useAct } from '../use-act.ts'
import type { Adjustment } from './adjustment-queries.ts'
import { effectWords } from './adjustment-words.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export type AdjustmentDecision = 'approve' | 'reject' | 'withdraw'

const WORDS = perLanguage(
  (): Readonly<Record<AdjustmentDecision, { title: string; act: string; done: string }>> => ({
    approve: { title: t('Aprovar este ajuste?'), act: t('Aprovar'), done: t('aprovado e lançado') },
    reject: { title: t('Recusar este ajuste?'), act: t('Recusar'), done: t('recusado') },
    withdraw: {
      title: t('Retirar este pedido?'),
      act: t('Retirar pedido de'),
      done: t('retirado'),
    },
  }),
)

interface Props {
  readonly adjustment: Adjustment
  /** Undefined: the dialog is closed. */
  readonly decision: AdjustmentDecision | undefined
  readonly onClose: () => void
}

export function DecisionDialog({ adjustment, decision, onClose }: Props) {
  const { id, kind, amount_brl: amount, customer_name: name, reason } = adjustment
  const path = { id }
  const { title, act, done } = WORDS()[decision ?? 'reject']
  const isApproval = decision === 'approve'
  const decide = useAct({
    act: (_input, once) =>
      isApproval
        ? api.post('/admin/adjustments/{id}/approve', undefined, { path, once })
        : api.post('/admin/adjustments/{id}/reject', undefined, { path, once }),
    doneText: () => t('Ajuste de {amount} {done}.', { amount: brl(amount), done }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={decision !== undefined}
      onClose={() => {
        decide.reset()
        onClose()
      }}
      onConfirm={() => decide.mutate()}
      title={title}
      confirmText={`${act} ${brl(amount)}`}
      variant={isApproval ? 'primary' : 'danger'}
      isBusy={decide.isPending}
      error={decide.error ? explainError(decide.error) : undefined}
    >
      <p className="font-semibold">
        {isApproval
          ? effectWords(kind, amount, name ?? t('cliente'))
          : t('Os {amount} não são lançados: o saldo de {name} fica como está.', {
              amount: brl(amount),
              name: name ?? t('cliente'),
            })}
      </p>
      <p className="text-sm break-words text-muted">
        <Trans id="Motivo do pedido: {reason}" values={{ reason }} />
      </p>
    </ConfirmDialog>
  )
}
