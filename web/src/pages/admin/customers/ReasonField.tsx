import { Field } from '../../../components/Field.tsx'
import { TextArea } from '../../../components/TextArea.tsx'
import { t } from '../../../language/t.ts'

/** Why an operator acts on an account; `hint` says who reads it. */
export function ReasonField(props: {
  readonly hint: string
  readonly fault: string | undefined
  readonly maxLength: number
  readonly reason: string
  readonly onChange: (reason: string) => void
}) {
  return (
    <Field label={t('Motivo')} hint={props.hint} error={props.fault}>
      {(control) => (
        <TextArea
          {...control}
          rows={2}
          value={props.reason}
          maxLength={props.maxLength}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
