import { useState, type SubmitEvent } from 'react'
import { Choice } from '../../../components/Choice.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Input } from '../../../components/Input.tsx'
import type { IncidentInput, Severity } from './incident-queries.ts'
import { SEVERITIES, SEVERITY_WORDS } from './incident-words.ts'
import { TextArea } from '../../../components/TextArea.tsx'
import { TouchedModels } from './TouchedModels.tsx'

interface Props {
  /** What was written before, to be changed. */
  readonly written: IncidentInput | undefined
  readonly onWritten: (input: IncidentInput) => void
  readonly onCancel: () => void
}

export function IncidentForm({ written, onWritten, onCancel }: Props) {
  const [title, setTitle] = useState(written?.title ?? '')
  const [message, setMessage] = useState(written?.message ?? '')
  const [severity, setSeverity] = useState<Severity>(written?.severity ?? 'major')
  const [models, setModels] = useState<readonly string[]>(written?.models ?? [])
  const [faults, setFaults] = useState<{ title?: string; message?: string }>({})

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const found = {
      ...(title.trim() === '' && { title: 'Escreva um título curto.' }),
      ...(message.trim() === '' && { message: 'Conte o que se sabe até agora.' }),
    }
    setFaults(found)
    if (Object.keys(found).length > 0) return
    onWritten({ title: title.trim(), message: message.trim(), severity, models: [...models] })
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Field label="Título" error={faults.title}>
        {(control) => (
          <Input
            {...control}
            value={title}
            maxLength={200}
            autoComplete="off"
            placeholder="Lentidão nos modelos da OpenAI"
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="O que acontece"
        hint="Diga o que o cliente nota e o que ele pode fazer enquanto isso."
        error={faults.message}
      >
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
        legend="Gravidade"
        value={severity}
        onChange={setSeverity}
        options={SEVERITIES.map((value) => ({ value, ...SEVERITY_WORDS[value] }))}
      />
      <Disclosure
        summary={models.length === 0 ? 'Quais modelos (opcional)' : `Modelos: ${models.join(', ')}`}
      >
        <TouchedModels value={models} onChange={setModels} />
      </Disclosure>
      <FormEnd error={undefined} submitLabel="Conferir" isBusy={false} onCancel={onCancel} />
    </form>
  )
}
