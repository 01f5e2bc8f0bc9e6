import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { SERVICE, useAct } from '../use-act.ts'
import type { Health } from './health-queries.ts'
import { t } from '../../../language/t.ts'

/** Stops all model calls, or takes them again. */
export function PauseService({ pause }: { readonly pause: Health['pause'] }) {
  const isPaused = pause !== null
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const act = useAct({
    act: () =>
      isPaused
        ? api.post('/admin/service/resume', undefined)
        : api.post('/admin/service/pause', { reason: reason.trim() }),
    doneText: ({ is_paused: isNow }) =>
      isNow
        ? t('As chamadas de modelos estão pausadas.')
        : t('As chamadas de modelos voltaram a ser atendidas.'),
    onDone() {
      setReason('')
      setOpen(false)
    },
    changes: [SERVICE],
  })
  const confirm = (): void => {
    if (!isPaused && reason.trim().length < 3)
      setFault(t('Escreva o motivo, com ao menos 3 letras.'))
    else {
      setFault(undefined)
      act.mutate()
    }
  }
  return (
    <>
      <Button variant={isPaused ? 'primary' : 'danger'} onClick={() => setOpen(true)}>
        {isPaused ? t('Retomar as chamadas') : t('Pausar as chamadas')}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={confirm}
        title={
          isPaused
            ? t('Retomar as chamadas de modelos?')
            : t('Pausar todas as chamadas de modelos?')
        }
        confirmText={isPaused ? t('Retomar as chamadas') : t('Pausar as chamadas')}
        variant={isPaused ? 'primary' : 'danger'}
        isBusy={act.isPending}
        error={act.error ? explainError(act.error) : undefined}
      >
        <p className="text-sm">
          {isPaused
            ? t('As chamadas voltam a ser atendidas na hora, em todos os nós.')
            : t(
                'Todas as chamadas novas, de todos os clientes, passam a receber um erro 503 na hora, em todos os nós, e nada é cobrado por elas. As que já estão em andamento terminam e são cobradas. O painel e as recargas continuam.',
              )}
        </p>
        {!isPaused && (
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
    </>
  )
}
