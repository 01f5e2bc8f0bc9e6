import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { useAct } from '../use-act.ts'
import { MODELS_CHANGE, type AdminModel } from './admin-model-queries.ts'

interface Props {
  readonly model: AdminModel
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Takes a model out of service, or puts it back. */
export function ModelSwitch({ model, isOpen, onClose }: Props) {
  const { id, display_name: name, is_disabled: isOff } = model
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const act = useAct({
    act: () =>
      isOff
        ? api.post('/admin/models/{id}/enable', undefined, { path: { id } })
        : api.post('/admin/models/{id}/disable', { reason: reason.trim() }, { path: { id } }),
    doneText: () => (isOff ? `${name} está no ar.` : `${name} está fora do ar.`),
    onDone: () => {
      setReason('')
      onClose()
    },
    changes: MODELS_CHANGE,
  })
  const confirm = (): void => {
    if (!isOff && reason.trim().length < 3) setFault('Escreva o motivo, com ao menos 3 letras.')
    else {
      setFault(undefined)
      act.mutate()
    }
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={confirm}
      title={isOff ? `Pôr ${name} no ar?` : `Tirar ${name} do ar?`}
      confirmText={isOff ? 'Pôr no ar' : 'Tirar do ar'}
      variant={isOff ? 'primary' : 'danger'}
      isBusy={act.isPending}
      error={act.error ? explainError(act.error) : undefined}
    >
      <p className="text-sm">
        {isOff
          ? 'Chamadas ao modelo voltam a ser atendidas na hora, em todos os nós.'
          : 'Chamadas novas ao modelo passam a receber um erro 503 na hora, em todos os nós, e nada é cobrado por elas. As que já estão em andamento terminam, e ele continua no catálogo.'}
      </p>
      {!isOff && (
        <Field label="Motivo" hint="Fica na auditoria; clientes não o veem." error={fault}>
          {(control) => (
            <Input
              {...control}
              value={reason}
              maxLength={500}
              autoComplete="off"
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
      )}
    </ConfirmDialog>
  )
}
