import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { useToast } from '../../components/Toast.tsx'
import { PROMPTS } from '../prompts/prompt-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly text: string
  readonly model: string
}

const NAME_LENGTH_MIN = 3
const NAME_LENGTH_MAX = 120

export function SavePrompt({ isOpen, onClose, text, model }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t('Salvar como prompt')}
      description={t(
        'Para usar de novo, aqui ou pela API. Escreva {{nome}} onde algo muda a cada uso.',
      )}
    >
      <SaveForm text={text} model={model} onDone={onClose} />
    </Dialog>
  )
}

function SaveForm({
  text,
  model,
  onDone,
}: Pick<Props, 'text' | 'model'> & { readonly onDone: () => void }) {
  const [name, setName] = useState('')
  const [body, setBody] = useState(text)
  const [isAsked, setAsked] = useState(false)
  const queries = useQueryClient()
  const toast = useToast()
  const save = useSubmit({
    mutationFn: (_input: void, once) =>
      api.post(
        '/me/prompts',
        { name: name.trim(), body: body.trim(), default_model: model },
        { once },
      ),
    async onSuccess() {
      toast(t('Prompt salvo.'))
      onDone()
      await queries.invalidateQueries({ queryKey: PROMPTS })
    },
  })
  const isNamed = name.trim().length >= NAME_LENGTH_MIN
  const isWritten = body.trim() !== ''
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    setAsked(true)
    if (isNamed && isWritten) save.mutate()
  }
  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Field
        label={t('Nome')}
        error={
          isAsked &&
          !isNamed &&
          t('Dê um nome de ao menos {nameLengthMin} letras.', { nameLengthMin: NAME_LENGTH_MIN })
        }
      >
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            maxLength={NAME_LENGTH_MAX}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label={t('Texto')} error={isAsked && !isWritten && t('Escreva o texto do prompt.')}>
        {(control) => (
          <TextArea
            {...control}
            maxLength={32_000}
            rows={5}
            className="max-h-80"
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        )}
      </Field>
      <FormEnd
        error={save.error ? explainSave(save.error) : undefined}
        submitLabel={t('Salvar prompt')}
        isBusy={save.isPending}
        onCancel={onDone}
      />
    </form>
  )
}

function explainSave(error: unknown): string {
  if (error instanceof ApiError && error.field === 'default_model')
    return t('O modelo escolhido não é de chat. Troque o modelo e salve de novo.')
  return explainError(error)
}
