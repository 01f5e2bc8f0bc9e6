import { Field } from './Field.tsx'
import { Input } from './Input.tsx'

interface CodeFieldProps {
  readonly id?: string
  readonly label: string
  readonly hint?: string
  readonly error?: string | undefined
  /** A backup code: letters and digits, which the customer has only on paper. */
  readonly isBackup?: boolean
  readonly value: string
  readonly onChange: (code: string) => void
}

/** A code of the second factor; phones can fill it in. */
export function CodeField({
  id,
  label,
  hint,
  error,
  isBackup = false,
  value,
  onChange,
}: CodeFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} {...(id === undefined ? {} : { id })}>
      {(control) => (
        <Input
          {...control}
          name="code"
          autoComplete={isBackup ? 'off' : 'one-time-code'}
          inputMode={isBackup ? 'text' : 'numeric'}
          autoCapitalize="none"
          spellCheck={false}
          maxLength={isBackup ? 30 : 10}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="font-mono tracking-widest"
        />
      )}
    </Field>
  )
}
