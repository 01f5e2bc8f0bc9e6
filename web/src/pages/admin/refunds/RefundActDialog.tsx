import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { TextArea } from '../../../components/TextArea.tsx'
import { brl } from '../../../format/brl.ts'
import type { Once } from '../../../lib/submit-gate.ts'
import { useAct } from '../use-act.ts'
import type { OperatedRefund } from './admin-refund-queries.ts'
import { refundActWords, type RefundAct } from './refund-act-words.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly refund: OperatedRefund
  /** Undefined: the dialog is closed. */
  readonly act: RefundAct | undefined
  readonly onClose: () => void
}

export function RefundActDialog({ refund, act, onClose }: Props) {
  const [note, setNote] = useState('')
  const [fault, setFault] = useState<string>()
  const words = refundActWords(act ?? 'approve', refund)
  const close = (): void => {
    setFault(undefined)
    decide.reset()
    onClose()
  }
  const decide = useAct({
    act: (_input, once) => send(act ?? 'approve', refund.id, note.trim(), once),
    doneText: () =>
      t('Reembolso de {amountBrl}: {done}.', {
        amountBrl: brl(refund.amount_brl),
        done: words.done,
      }),
    onDone: onClose,
  })
  const confirm = (): void => {
    if (act === 'reject' && note.trim().length < 3)
      setFault(t('Escreva o motivo: o cliente vai ler.'))
    else {
      setFault(undefined)
      decide.mutate()
    }
  }
  return (
    <ConfirmDialog
      isOpen={act !== undefined}
      onClose={close}
      onConfirm={confirm}
      title={words.title}
      confirmText={words.confirm}
      variant={act === 'approve' || act === 'transferred' ? 'primary' : 'danger'}
      isBusy={decide.isPending}
      error={decide.error ? explainError(decide.error) : undefined}
    >
      <p className="text-sm">{words.effect}</p>
      {act === 'reject' && (
        <Field label={t('Motivo, para o cliente ler')} error={fault}>
          {(control) => (
            <TextArea
              {...control}
              className="min-h-24"
              maxLength={500}
              value={note}
              onChange={(event) => setNote(event.target.value)}
            />
          )}
        </Field>
      )}
    </ConfirmDialog>
  )
}

function send(act: RefundAct, id: string, note: string, once: Once): Promise<OperatedRefund> {
  const path = { id }
  if (act === 'approve') return api.post('/admin/refunds/{id}/approve', undefined, { path, once })
  if (act === 'reject') return api.post('/admin/refunds/{id}/reject', { note }, { path, once })
  const outcome = act === 'transferred' ? 'done' : 'failed'
  return api.post('/admin/refunds/{id}/complete', { outcome }, { path, once })
}
