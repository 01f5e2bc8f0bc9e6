import { useState, type SubmitEvent } from 'react'
import { api } from '../../../api/client.ts'
import { Choice } from '../../../components/Choice.tsx'
import { Dialog } from '../../../components/Dialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { useAct } from '../use-act.ts'
import { INCIDENTS_CHANGE, type Incident, type IncidentChange } from './incident-queries.ts'
import { explainIncidentError, SEVERITIES, SEVERITY_WORDS } from './incident-words.ts'
import { TextArea } from '../../../components/TextArea.tsx'
import { t } from '../../../language/t.ts'

interface Props {
  readonly incident: Incident
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function UpdateIncident({ incident, isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t('Atualizar “{title}”', { title: incident.title })}
    >
      <UpdateForm incident={incident} onDone={onClose} />
    </Dialog>
  )
}

function UpdateForm({ incident, onDone }: Pick<Props, 'incident'> & { onDone: () => void }) {
  const [message, setMessage] = useState('')
  const [severity, setSeverity] = useState(incident.severity)
  const [fault, setFault] = useState<string>()
  const update = useAct({
    act: (change: IncidentChange) =>
      api.patch('/admin/incidents/{id}', change, { path: { id: incident.id } }),
    doneText: () => t('Incidente atualizado.'),
    onDone,
    changes: INCIDENTS_CHANGE,
  })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const said = message.trim()
    if (said === '') setFault(t('Escreva como está agora.'))
    else {
      setFault(undefined)
      update.mutate({ message: said, ...(severity === incident.severity ? {} : { severity }) })
    }
  }
  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Notice>{t('Toma o lugar do texto que os clientes veem agora na página Status.')}</Notice>
      <Field label={t('Como está agora')} error={fault}>
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
      <Choice
        legend={t('Gravidade')}
        value={severity}
        onChange={setSeverity}
        options={SEVERITIES.map((value) => ({ value, ...SEVERITY_WORDS()[value] }))}
      />
      <FormEnd
        error={update.error ? explainIncidentError(update.error) : undefined}
        submitLabel={t('Publicar atualização')}
        isBusy={update.isPending}
        onCancel={onDone}
      />
    </form>
  )
}
