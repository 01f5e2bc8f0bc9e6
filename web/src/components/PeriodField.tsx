import { Field } from './Field.tsx'
import { Select } from './Select.tsx'
import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

interface PeriodFieldProps {
  readonly days: number
  readonly windows: readonly number[]
  readonly onChange: (days: number) => void
  readonly className?: string
}

export function PeriodField({ days, windows, onChange, className }: PeriodFieldProps) {
  return (
    <Field label={t('Período')} {...(className === undefined ? {} : { className })}>
      {(control) => (
        <Select
          {...control}
          value={String(days)}
          onChange={(event) => onChange(Number(event.target.value))}
        >
          {windows.map((window) => (
            <option key={window} value={window}>
              <Trans id="Últimos {window} dias" values={{ window }} />
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
