import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { t } from '../../language/t.ts'

interface EmailFieldProps {
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (email: string) => void
}

export function EmailField({ value, error, onChange }: EmailFieldProps) {
  return (
    <Field label={t('E-mail')} error={error} id="email">
      {(control) => (
        <Input
          {...control}
          type="email"
          name="email"
          autoComplete="username"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
