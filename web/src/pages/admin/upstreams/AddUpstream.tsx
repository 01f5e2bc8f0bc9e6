import { useState, type SubmitEvent } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Dialog } from '../../../components/Dialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Input } from '../../../components/Input.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { Select } from '../../../components/Select.tsx'
import { useAct } from '../use-act.ts'
import { kindWords, UPSTREAMS_CHANGE, testWords, type UpstreamKind } from './upstream-queries.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly kinds: readonly UpstreamKind[]
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Adds a provider, and tests it at once: its key may be wrong. */
export function AddUpstream({ kinds, isOpen, onClose }: Props) {
  const [seen, setSeen] = useState<string>()
  const close = (): void => {
    setSeen(undefined)
    onClose()
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title={t('Acrescentar provedor')}>
      {seen === undefined ? (
        <Form kinds={kinds} onAdded={setSeen} onCancel={close} />
      ) : (
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            close()
          }}
        >
          <Notice tone="info">{seen}</Notice>
          <FormEnd error={undefined} submitLabel={t('Pronto')} isBusy={false} />
        </form>
      )}
    </Dialog>
  )
}

function Form(props: {
  readonly kinds: readonly UpstreamKind[]
  readonly onAdded: (seen: string) => void
  readonly onCancel: () => void
}) {
  const { kinds, onAdded, onCancel } = props
  const [kind, setKind] = useState<UpstreamKind['kind']>('openai')
  const [name, setName] = useState<string>()
  const [address, setAddress] = useState('')
  const [key, setKey] = useState('')
  const id = name ?? kind
  const needs = kinds.find((each) => each.kind === kind)
  const add = useAct({
    async act(_input, once) {
      const added = {
        id,
        kind,
        ...(needs?.needs_address === true && { base_url: address.trim() }),
        ...(key.trim() !== '' && { api_key: key.trim() }),
      }
      await api.post('/admin/upstreams', added, { once })
      return api
        .post('/admin/upstreams/{id}/test', undefined, { path: { id } })
        .then(testWords, explainError)
    },
    doneText: () => t('Provedor {id} acrescentado.', { id }),
    onDone: () => setKey(''),
    changes: UPSTREAMS_CHANGE,
  })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (!add.isPending) add.mutate(undefined, { onSuccess: onAdded })
  }
  return (
    <form onSubmit={submit} className="grid gap-5">
      <Field label={t('Provedor')}>
        {(control) => (
          <Select
            {...control}
            value={kind}
            onChange={(event) =>
              setKind(kinds.find((each) => each.kind === event.target.value)?.kind ?? kind)
            }
          >
            {kinds.map((each) => (
              <option key={each.kind} value={each.kind}>
                {kindWords(each.kind)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label={t('Id')}
        hint={t(
          'Com o do próprio provedor, os modelos que já vêm com a Catraca são pedidos a ele.',
        )}
      >
        {(control) => (
          <Input
            {...control}
            value={id}
            required
            maxLength={63}
            pattern="[a-z0-9][a-z0-9._\-]*"
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      {needs?.needs_address === true && (
        <Field label={t('Endereço')} hint={t('Público, com o segmento da versão, como /v1.')}>
          {(control) => (
            <Input
              {...control}
              type="url"
              required
              maxLength={2_000}
              autoComplete="off"
              value={address}
              onChange={(event) => setAddress(event.target.value)}
            />
          )}
        </Field>
      )}
      <KeyField value={key} isRequired={needs?.needs_key === true} onChange={setKey} />
      <FormEnd
        error={add.error ? explainError(add.error) : undefined}
        submitLabel={t('Acrescentar e testar')}
        isBusy={add.isPending}
        onCancel={onCancel}
      />
    </form>
  )
}

/** Never filled in: a stored key is not shown again. */
export function KeyField(props: {
  readonly value: string
  readonly isRequired: boolean
  readonly onChange: (key: string) => void
}) {
  return (
    <Field
      label={t('Chave do provedor')}
      hint={t('Fica selada no banco de dados e não é mais mostrada.')}
    >
      {(control) => (
        <Input
          {...control}
          type="password"
          required={props.isRequired}
          maxLength={1_000}
          autoComplete="off"
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
