import { useState, type SubmitEvent } from 'react'
import { Choice } from '../../../components/Choice.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Input } from '../../../components/Input.tsx'
import type { IncidentInput, Severity } from './incident-queries.ts'
import { SEVERITIES, SEVERITY_WORDS } from './incident-words.ts'
import { TextArea } from '../../../components/TextArea.tsx'
import { AffectedModels } from './AffectedModels.tsx'
import { t } from '../../../language/t.ts'

interface Props {
  /** The input of an earlier step, to be edited again. */
  readonly draft: IncidentInput | undefined
  readonly onReview: (input: IncidentInput) => void
  readonly onCancel: () => void
}

export function IncidentForm({ draft, onReview, onCancel }: Props) {
  const [title, setTitle] = useState(draft?.title ?? '')
  const [message, setMessage] = useState(draft?.message ?? '')
  const [severity, setSeverity] = useState<Severity>(draft?.severity ?? 'major')
  const [models, setModels] = useState<readonly string[]>(draft?.models ?? [])
  const [faults, setFaults] = useState<{ title?: string; message?: string }>({})

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const found = {
      ...(title.trim() === '' && { title: t('Escreva um título curto.') }),
      ...(message.trim() === '' && { message: t('Conte o que se sabe até agora.') }),
    }
    setFaults(found)
    if (Object.keys(found).length > 0) return
    onReview({ title: title.trim(), message: message.trim(), severity, models: [...models] })
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Field label={t('Título')} error={faults.title}>
        {(control) => (
          <Input
            {...control}
            value={title}
            maxLength={200}
            autoComplete="off"
            placeholder={t('Lentidão nos modelos da OpenAI')}
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('O que acontece')}
        hint={t('Diga o que o cliente nota e o que ele pode fazer enquanto isso.')}
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
        legend={t('Gravidade')}
        value={severity}
        onChange={setSeverity}
        options={SEVERITIES.map((value) => ({ value, ...SEVERITY_WORDS()[value] }))}
      />
      <Disclosure
        summary={
          models.length === 0
            ? t('Quais modelos (opcional)')
            : t('Modelos: {models}', { models: models.join(', ') })
        }
      >
        <AffectedModels value={models} onChange={setModels} />
      </Disclosure>
      <FormEnd error={undefined} submitLabel={t('Conferir')} isBusy={false} onCancel={onCancel} />
    </form>
  )
}
