import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { useAct } from '../use-act.ts'
import { INCIDENTS_CHANGE, type Incident } from './incident-queries.ts'
import { explainIncidentError } from './incident-words.ts'
import { TextArea } from '../../../components/TextArea.tsx'
import { t } from '../../../language/t.ts'

interface Props {
  readonly incident: Incident
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function ResolveIncident({ incident, isOpen, onClose }: Props) {
  const [message, setMessage] = useState('')
  const resolve = useAct({
    act: () => {
      const said = message.trim()
      const change = { status: 'resolved', ...(said === '' ? {} : { message: said }) } as const
      return api.patch('/admin/incidents/{id}', change, { path: { id: incident.id } })
    },
    doneText: () => t('Incidente resolvido.'),
    onDone: onClose,
    changes: INCIDENTS_CHANGE,
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => resolve.mutate()}
      title={t('Resolver “{title}”?', { title: incident.title })}
      confirmText={t('Resolver incidente')}
      variant="primary"
      isBusy={resolve.isPending}
      error={resolve.error ? explainIncidentError(resolve.error) : undefined}
    >
      <p className="text-sm">
        {t(
          'Ele sai da página Status em segundos e não abre de novo: se o problema voltar, abra outro.',
        )}
        {incident.source === 'breaker' &&
          t(' O disjuntor o abriu: se os provedores seguirem sem responder, ele abre um novo.')}
      </p>
      <Field label={t('O que foi (opcional)')} hint={t('Fica no histórico do incidente.')}>
        {(control) => (
          <TextArea
            rows={4}
            maxLength={2000}
            {...control}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
    </ConfirmDialog>
  )
}
