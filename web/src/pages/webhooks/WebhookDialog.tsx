import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { EventTypesField } from './EventTypesField.tsx'
import {
  WEBHOOKS,
  type Webhook,
  type WebhookInput,
  type WebhookWithSecret,
} from './webhook-queries.ts'
import { explainReceiverError } from './receiver-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface Props {
  /** Undefined: a new webhook. */
  readonly webhook: Webhook | undefined
  readonly isOpen: boolean
  readonly onClose: () => void
  /** Called with a new webhook and its secret. */
  readonly onCreated?: (made: WebhookWithSecret) => void
}

export function WebhookDialog({ webhook, isOpen, onClose, onCreated }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={webhook ? t('Alterar webhook') : t('Criar webhook')}
      description={t('A Catraca avisa o seu sistema quando algo acontece na conta.')}
    >
      <WebhookForm webhook={webhook} onDone={onClose} onCreated={onCreated} />
    </Dialog>
  )
}

interface FormProps extends Pick<Props, 'webhook'> {
  readonly onDone: () => void
  readonly onCreated: Props['onCreated']
}

function WebhookForm({ webhook, onDone, onCreated }: FormProps) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [types, setTypes] = useState<readonly string[] | null>(webhook?.event_types ?? null)
  const [fault, setFault] = useState<string>()
  const queries = useQueryClient()
  const save = useSubmit({
    async mutationFn(input: WebhookInput, once) {
      if (webhook) await api.patch('/webhooks/{id}', input, { path: { id: webhook.id } })
      else onCreated?.(await api.post('/webhooks', input, { once }))
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: WEBHOOKS })
      onDone()
    },
  })

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (url.trim() === '') setFault(t('Digite o endereço que recebe as mensagens.'))
    else if (types?.length === 0) setFault(t('Escolha ao menos um evento, ou todos.'))
    else {
      setFault(undefined)
      save.mutate({
        url: url.trim(),
        description: description.trim() === '' ? null : description.trim(),
        // All of them came from the API's list.
        event_types: types as NonNullable<WebhookInput['event_types']> | null,
      })
    }
  }

  const error = fault ?? (save.error ? explainReceiverError(save.error) : undefined)
  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Field label={t('Endereço')} hint={t('https, aberto à internet.')}>
        {(control) => (
          <Input
            {...control}
            type="url"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            maxLength={2000}
            placeholder={t('https://exemplo.com.br/webhooks')}
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <Field label={t('Descrição (opcional)')}>
        {(control) => (
          <Input
            {...control}
            maxLength={200}
            autoComplete="off"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
      <EventTypesField value={types} onChange={setTypes} />
      <FormEnd
        error={error}
        submitLabel={webhook ? t('Salvar') : t('Criar webhook')}
        isBusy={save.isPending}
        onCancel={onDone}
      />
    </form>
  )
}
