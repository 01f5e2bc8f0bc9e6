import { Field } from '../../components/Field.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import type { RunFaults, RunFields } from './run-form.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly names: readonly string[]
  readonly values: RunFields['values']
  readonly faults: RunFaults
  readonly onChange: (values: RunFields['values']) => void
}

export function VariableFields({ names, values, faults, onChange }: Props) {
  if (names.length === 0)
    return <p className="text-sm text-muted">{t('Este prompt não tem variáveis.')}</p>
  return (
    <fieldset className="grid min-w-0 gap-4">
      <legend className="sr-only">{t('Valores das variáveis')}</legend>
      {names.map((name) => (
        <Field
          key={name}
          label={<span className="font-mono break-all">{name}</span>}
          error={faults[`values.${name}`]}
        >
          {(control) => (
            <TextArea
              {...control}
              rows={1}
              value={values[name] ?? ''}
              onChange={(event) => onChange({ ...values, [name]: event.target.value })}
              className="max-h-60"
            />
          )}
        </Field>
      ))}
    </fieldset>
  )
}
