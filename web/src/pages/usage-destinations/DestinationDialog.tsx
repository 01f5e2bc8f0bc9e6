import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { t } from '../../language/t.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import {
  DESTINATIONS,
  KIND_WORDS,
  type Destination,
  type DestinationChange,
  type DestinationKind,
} from './destination-queries.ts'
import { explainReceiverError } from '../webhooks/receiver-words.ts'
import { readHeaderLines } from './read-header-lines.ts'

interface Props {
  /** Undefined: a new destination. */
  readonly destination: Destination | undefined
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function DestinationDialog({ destination, isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={destination ? t('Alterar destino') : t('Criar destino')}
      description={t('Só vai o que for cobrado a partir de agora.')}
    >
      <DestinationForm destination={destination} onDone={onClose} />
    </Dialog>
  )
}

interface Values {
  readonly kind: DestinationKind
  readonly url: string
  readonly publicKey: string
  readonly secretKey: string
  readonly headers: string
  readonly includesContent: boolean
}

function DestinationForm({
  destination,
  onDone,
}: {
  readonly destination: Destination | undefined
  readonly onDone: () => void
}) {
  const [values, setValues] = useState<Values>({
    kind: destination?.kind ?? 'langfuse',
    url: destination?.url ?? '',
    publicKey: destination?.public_key ?? '',
    secretKey: '',
    headers: '',
    includesContent: destination?.includes_content ?? false,
  })
  const [fault, setFault] = useState<string>()
  const set = (change: Partial<Values>): void => setValues({ ...values, ...change })
  const save = useSave(destination, values.kind, onDone)

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const read = readValues(values, destination)
    setFault('fault' in read ? read.fault : undefined)
    if (!('fault' in read)) save.mutate(read.change)
  }

  const error = fault ?? (save.error ? explainReceiverError(save.error) : undefined)
  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      {!destination && (
        <Field label={t('Tipo')}>
          {(control) => (
            <Select
              {...control}
              value={values.kind}
              onChange={(event) => set({ kind: event.target.value as DestinationKind })}
            >
              <option value="langfuse">{KIND_WORDS().langfuse}</option>
              <option value="otlp">{KIND_WORDS().otlp}</option>
            </Select>
          )}
        </Field>
      )}
      <Field
        label={t('Endereço')}
        hint={
          values.kind === 'langfuse'
            ? t('O da sua instância, com https.')
            : t('O endpoint do coletor, com https; acrescentamos /v1/traces.')
        }
      >
        {(control) => (
          <Input
            {...control}
            type="url"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            maxLength={2000}
            placeholder={
              values.kind === 'langfuse'
                ? t('https://cloud.langfuse.com')
                : t('https://otlp.exemplo.com.br')
            }
            value={values.url}
            onChange={(event) => set({ url: event.target.value })}
          />
        )}
      </Field>
      {values.kind === 'langfuse' ? (
        <LangfuseKeys isNew={!destination} values={values} set={set} />
      ) : (
        <Headers isNew={!destination} values={values} set={set} />
      )}
      <Checkbox
        label={t('Enviar também prompts e respostas')}
        hint={t(
          'Só de chamadas a /v1/responses que a sua conta armazena, e nunca as de chaves de equipe. Podem conter dados pessoais: o destino passa a tê-los.',
        )}
        checked={values.includesContent}
        onChange={(event) => set({ includesContent: event.target.checked })}
      />
      <FormEnd
        error={error}
        submitLabel={destination ? t('Salvar') : t('Criar destino')}
        isBusy={save.isPending}
        onCancel={onDone}
      />
    </form>
  )
}

interface PartProps {
  readonly isNew: boolean
  readonly values: Values
  readonly set: (change: Partial<Values>) => void
}

function LangfuseKeys({ isNew, values, set }: PartProps) {
  return (
    <>
      <Field label={t('Chave pública')}>
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            spellCheck={false}
            maxLength={200}
            placeholder={t('pk-lf-…')}
            value={values.publicKey}
            onChange={(event) => set({ publicKey: event.target.value })}
          />
        )}
      </Field>
      <Field
        label={t('Chave secreta')}
        hint={
          isNew
            ? t('Fica cifrada e nunca mais aparece.')
            : t('Deixe vazia para manter a atual. Outro servidor pede a chave de novo.')
        }
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            maxLength={200}
            placeholder={t('sk-lf-…')}
            value={values.secretKey}
            onChange={(event) => set({ secretKey: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}

function Headers({ isNew, values, set }: PartProps) {
  return (
    <Field
      label={t('Cabeçalhos (opcional)')}
      hint={
        isNew
          ? t('Um por linha, como authorization: Bearer …. Ficam cifrados e nunca mais aparecem.')
          : t('Deixe vazio para manter os atuais. Outro servidor pede os cabeçalhos de novo.')
      }
    >
      {(control) => (
        <TextArea
          {...control}
          rows={3}
          autoComplete="off"
          spellCheck={false}
          value={values.headers}
          onChange={(event) => set({ headers: event.target.value })}
        />
      )}
    </Field>
  )
}

function useSave(destination: Destination | undefined, kind: DestinationKind, onDone: () => void) {
  const queries = useQueryClient()
  return useSubmit({
    async mutationFn(change: DestinationChange & { readonly url: string }, once) {
      if (destination)
        await api.patch('/usage/destinations/{id}', change, { path: { id: destination.id } })
      else await api.post('/usage/destinations', { kind, ...change }, { once })
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: DESTINATIONS })
      onDone()
    },
  })
}

/** What is left empty of the secrets of a destination stays as it is. */
function readValues(
  { kind, url, publicKey, secretKey, headers, includesContent }: Values,
  destination: Destination | undefined,
): { readonly fault: string } | { readonly change: DestinationChange & { readonly url: string } } {
  if (url.trim() === '') return { fault: t('Digite o endereço do destino.') }
  const change = { url: url.trim(), includes_content: includesContent }
  if (kind === 'otlp') {
    const read = readHeaderLines(headers)
    if ('fault' in read) return read
    return {
      change: Object.keys(read.headers).length > 0 ? { ...change, headers: read.headers } : change,
    }
  }
  const isKept = secretKey === '' && destination?.public_key === publicKey.trim()
  if (isKept) return { change }
  if (publicKey.trim() === '' || secretKey.trim() === '')
    return { fault: t('Digite a chave pública e a chave secreta do projeto.') }
  return { change: { ...change, public_key: publicKey.trim(), secret_key: secretKey.trim() } }
}
