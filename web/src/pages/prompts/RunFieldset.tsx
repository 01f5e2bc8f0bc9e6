import type { UseQueryResult } from '@tanstack/react-query'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { NoPayingKey } from '../playground/NoPayingKey.tsx'
import type { PayingKey } from '../playground/playground-queries.ts'
import { ChatModelSelect } from './ChatModelSelect.tsx'
import type { Prompt } from './prompt-queries.ts'
import type { RunFaults, RunFields } from './run-form.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly prompt: Prompt
  readonly keys: UseQueryResult<readonly PayingKey[]>
  readonly fields: RunFields
  readonly faults: RunFaults
  readonly onChange: (change: Partial<RunFields>) => void
}

/** The settings of a run, and the key that pays. */
export function RunFieldset({ prompt, keys, fields, faults, onChange }: Props) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t('Modelo')} className="sm:col-span-2" error={faults.model}>
        {(control) => (
          <ChatModelSelect
            control={control}
            value={fields.model}
            emptyText={
              prompt.default_model === null
                ? t('Escolha um modelo')
                : t('Padrão deste prompt: {defaultModel}', { defaultModel: prompt.default_model })
            }
            onChange={(model) => onChange({ model })}
          />
        )}
      </Field>
      <Field label={t('Máximo de tokens')} error={faults.maxTokens} hint={t('Da resposta.')}>
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            autoComplete="off"
            value={fields.maxTokens}
            onChange={(event) => onChange({ maxTokens: event.target.value })}
          />
        )}
      </Field>
      <Field
        label={t('Temperatura')}
        error={faults.temperature}
        hint={t('De 0 (sempre parecida) a 2.')}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="decimal"
            autoComplete="off"
            value={fields.temperature}
            onChange={(event) => onChange({ temperature: event.target.value })}
          />
        )}
      </Field>
      <div className="sm:col-span-2">
        <KeyField keys={keys} fields={fields} faults={faults} onChange={onChange} />
      </div>
    </div>
  )
}

function KeyField({ keys, fields, faults, onChange }: Omit<Props, 'prompt'>) {
  if (keys.isError && !keys.data)
    return <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
  if (keys.data?.length === 0) return <NoPayingKey />
  return (
    <Field
      label={t('Pagar com a chave')}
      error={faults.keyId}
      hint={t('Valem os limites, os modelos e o orçamento dela.')}
    >
      {(control) => (
        <Select
          {...control}
          value={fields.keyId}
          onChange={(event) => onChange({ keyId: event.target.value })}
        >
          <option value="">{keys.isPending ? t('Carregando…') : t('Escolha uma chave')}</option>
          {keys.data?.map(({ id, name, last_four, team_id }) => (
            <option key={id} value={id}>
              {name} (…{last_four}){team_id !== null && t(' · equipe')}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
