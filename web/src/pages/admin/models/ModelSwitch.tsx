import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { useAct } from '../use-act.ts'
import { MODELS_CHANGE, type AdminModel } from './admin-model-queries.ts'
import { t } from '../../../language/t.ts'

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
    doneText: () =>
      isOff ? t('{name} está no ar.', { name }) : t('{name} está fora do ar.', { name }),
    onDone: () => {
      setReason('')
      onClose()
    },
    changes: MODELS_CHANGE,
  })
  const confirm = (): void => {
    if (!isOff && reason.trim().length < 3) setFault(t('Escreva o motivo, com ao menos 3 letras.'))
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
      title={isOff ? t('Colocar {name} no ar?', { name }) : t('Tirar {name} do ar?', { name })}
      confirmText={isOff ? t('Colocar no ar') : t('Tirar do ar')}
      variant={isOff ? 'primary' : 'danger'}
      isBusy={act.isPending}
      error={act.error ? explainError(act.error) : undefined}
    >
      <p className="text-sm">
        {isOff
          ? t('Chamadas ao modelo voltam a ser atendidas na hora, em todos os nós.')
          : t(
              'Chamadas novas ao modelo passam a receber um erro 503 na hora, em todos os nós, e nada é cobrado por elas. As que já estão em andamento terminam, e ele continua no catálogo.',
            )}
      </p>
      {!isOff && (
        <Field
          label={t('Motivo')}
          hint={t('Fica na auditoria; clientes não o veem.')}
          error={fault}
        >
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
