import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { useToast } from '../../components/Toast.tsx'
import { securityQuery } from '../security/security-queries.ts'
import { useProof, type WithProof } from '../security/use-proof.tsx'
import { readKeyForm, type KeyInput } from './key-fields.ts'
import { API_KEYS, type ApiKey, type NewApiKey } from './key-queries.ts'
import { explainKeyError } from './key-words.ts'
import { KeyLimits } from './KeyLimits.tsx'
import { KeyScopeField } from './KeyScopeField.tsx'
import { ModelPicker } from './ModelPicker.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface KeyDialogProps {
  /** Undefined: the dialog is closed. */
  readonly editing: ApiKey | 'new' | undefined
  /** The team of a new key; without it the key belongs to the customer alone. */
  readonly teamId?: string
  readonly onClose: () => void
  readonly onMade: (made: NewApiKey) => void
}

export function KeyDialog({ editing, ...rest }: KeyDialogProps) {
  const key = editing === 'new' ? undefined : editing
  const security = useQuery({ ...securityQuery, enabled: editing !== undefined })
  const { withProof, dialog } = useProof(security.data)
  return (
    <>
      <Dialog
        isOpen={editing !== undefined}
        onClose={rest.onClose}
        title={key ? t('Alterar “{name}”', { name: key.name }) : t('Criar chave')}
        className="sm:max-w-xl"
      >
        <KeyForm apiKey={key} withProof={withProof} {...rest} />
      </Dialog>
      {dialog}
    </>
  )
}

interface KeyFormProps extends Omit<KeyDialogProps, 'editing'> {
  readonly apiKey: ApiKey | undefined
  /** A key that may manage the account is made and changed only after a proof of identity. */
  readonly withProof: WithProof
}

interface Fault {
  readonly field: string | undefined
  readonly text: string
}

function KeyForm({ apiKey: key, withProof, ...rest }: KeyFormProps) {
  const [models, setModels] = useState<ReadonlySet<string> | null>(
    key?.model_ids ? new Set(key.model_ids) : null,
  )
  const [fault, setFault] = useState<Fault>()
  const form = useRef<HTMLFormElement>(null)
  const save = useSave(key, withProof, rest)

  const fail = (fault: Fault): void => {
    setFault(fault)
    const control = fault.field === undefined ? null : form.current?.elements.namedItem(fault.field)
    if (!(control instanceof HTMLElement)) return
    // A closed group would hide the error.
    const group = control.closest('details')
    if (group) group.open = true
    control.focus()
  }
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setFault(undefined)
    const read = readKeyForm(event.currentTarget, models && [...models], key)
    if ('fault' in read) return fail(read.fault)
    save.mutate(read.input, { onError: (error) => fail(explainKeyError(error)) })
  }
  const errorOf = (field: string): string | undefined =>
    fault?.field === field ? fault.text : undefined

  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={() => setFault(undefined)}
      noValidate
      className="grid gap-6"
    >
      <Field
        label={t('Nome')}
        hint={t('Onde ela vai ser usada, como “Site em produção”.')}
        error={errorOf('name')}
      >
        {(control) => (
          <Input
            {...control}
            name="name"
            autoComplete="off"
            maxLength={50}
            defaultValue={key?.name}
          />
        )}
      </Field>
      {isOfTeam(key, rest.teamId) || <KeyScopeField apiKey={key} />}
      <ModelPicker value={models} onChange={setModels} error={errorOf('model_ids')} />
      <KeyLimits apiKey={key} errorOf={errorOf} />
      <FormEnd
        error={fault?.field === undefined ? fault?.text : undefined}
        submitLabel={key ? t('Salvar') : t('Criar chave')}
        isBusy={save.isPending}
        onCancel={rest.onClose}
      />
    </form>
  )
}

/** A team's key is always for calls only. */
function isOfTeam(key: ApiKey | undefined, teamId: string | undefined): boolean {
  return key ? key.team_id !== null : teamId !== undefined
}

function useSave(
  key: ApiKey | undefined,
  withProof: WithProof,
  { teamId, onClose, onMade }: Omit<KeyDialogProps, 'editing'>,
) {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    async mutationFn(input: KeyInput, once) {
      if (key) await withProof(() => api.patch('/api-keys/{id}', input, { path: { id: key.id } }))
      else if (teamId === undefined)
        onMade(await withProof(() => api.post('/api-keys', input, { once })))
      else onMade(await api.post('/me/teams/{id}/keys', input, { path: { id: teamId }, once }))
    },
    async onSuccess() {
      if (key) {
        toast(t('Chave alterada.'))
        onClose()
      }
      await queries.invalidateQueries({ queryKey: API_KEYS })
    },
  })
}
