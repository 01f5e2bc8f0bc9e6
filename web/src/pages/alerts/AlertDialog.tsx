import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { useToast } from '../../components/Toast.tsx'
import { parseAmount } from '../../format/parse-amount.ts'
import { typedAmount } from '../../format/typed-amount.ts'
import {
  alertsQuery,
  type Alert,
  type AlertInput,
  type AlertKind,
  type Channel,
} from './alert-queries.ts'
import { CHANNEL_WORDS, explainAlertError, KIND_WORDS } from './alert-words.ts'
import { ScopeField } from './ScopeField.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

interface Props {
  /** Undefined: a new alert. */
  readonly alert: Alert | undefined
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function AlertDialog({ alert, isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={alert ? t('Alterar alerta') : t('Criar alerta')}
      {...(alert ? { description: t('Com outro limite, o alerta pode disparar de novo.') } : {})}
    >
      <AlertForm alert={alert} onDone={onClose} />
    </Dialog>
  )
}

const KINDS = perLanguage(() => Object.keys(KIND_WORDS()) as AlertKind[])
const CHANNELS = Object.keys(CHANNEL_WORDS()) as Channel[]

function AlertForm({
  alert,
  onDone,
}: {
  readonly alert: Alert | undefined
  readonly onDone: () => void
}) {
  const [kind, setKind] = useState<AlertKind>(alert?.kind ?? 'balance_below')
  const [threshold, setThreshold] = useState(alert ? typedAmount(alert.threshold) : '')
  const [name, setName] = useState(alert?.name)
  const [channels, setChannels] = useState<readonly Channel[]>(alert?.channels ?? ['email'])
  // `chave:<id>`, `equipe:<id>`, or empty for the whole account.
  const [scope, setScope] = useState('')
  const [fault, setFault] = useState<string>()
  const save = useSaveAlert(alert, onDone)
  const words = KIND_WORDS()[kind]
  const value = parseAmount(threshold)

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const given = (name ?? words.name).trim()
    if (value === undefined) setFault(t('Digite o limite. {bounds}', { bounds: words.bounds }))
    else if (channels.length === 0) setFault(t('Escolha ao menos um jeito de avisar.'))
    else {
      setFault(undefined)
      const common = { name: given, threshold: value, channels: [...channels] }
      save.mutate(alert ? common : { ...common, kind, ...scopeOf(scope, kind) })
    }
  }

  const error = fault ?? (save.error ? explainAlertError(save.error, kind) : undefined)
  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      {!alert && (
        <Field label={t('Avisar quando')}>
          {(control) => (
            <Select
              {...control}
              value={kind}
              onChange={(event) => setKind(event.target.value as AlertKind)}
            >
              {KINDS().map((each) => (
                <option key={each} value={each}>
                  {KIND_WORDS()[each].when} …
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      <Field label={t('Limite ({unit})', { unit: words.unit })} hint={words.bounds}>
        {(control) => (
          <Input
            {...control}
            inputMode="decimal"
            autoComplete="off"
            maxLength={20}
            placeholder={words.example}
            value={threshold}
            onChange={(event) => setThreshold(event.target.value)}
          />
        )}
      </Field>
      {!alert && !words.isForWholeAccountOnly && <ScopeField value={scope} onChange={setScope} />}
      <fieldset>
        <legend className="text-sm font-medium">{t('Avisar por')}</legend>
        <div className="flex flex-wrap gap-x-6">
          {CHANNELS.map((channel) => (
            <Checkbox
              key={channel}
              label={CHANNEL_WORDS()[channel]}
              checked={channels.includes(channel)}
              onChange={() =>
                setChannels(
                  channels.includes(channel)
                    ? channels.filter((each) => each !== channel)
                    : [...channels, channel],
                )
              }
            />
          ))}
        </div>
      </fieldset>
      <Field label={t('Nome')}>
        {(control) => (
          <Input
            {...control}
            maxLength={80}
            value={name ?? words.name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <FormEnd
        error={error}
        submitLabel={alert ? t('Salvar') : t('Criar alerta')}
        isBusy={save.isPending}
        onCancel={onDone}
      />
    </form>
  )
}

type Change = Pick<AlertInput, 'name' | 'threshold' | 'channels'>

function useSaveAlert(alert: Alert | undefined, onDone: () => void) {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    mutationFn: (input: Change | AlertInput, once) =>
      alert
        ? api.patch('/me/alerts/{id}', input, { path: { id: alert.id } })
        : api.post('/me/alerts', input as AlertInput, { once }),
    async onSuccess() {
      toast(alert ? t('Alerta salvo.') : t('Alerta criado.'))
      await queries.invalidateQueries({ queryKey: alertsQuery.queryKey })
      onDone()
    },
  })
}

function scopeOf(scope: string, kind: AlertKind): Pick<AlertInput, 'api_key_id' | 'team_id'> {
  const [of, id] = scope.split(':')
  if (KIND_WORDS()[kind].isForWholeAccountOnly || id === undefined) return {}
  return of === 'chave' ? { api_key_id: id } : { team_id: id }
}
