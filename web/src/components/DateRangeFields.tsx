import { Field } from './Field.tsx'
import { Input } from './Input.tsx'
import { t } from '../language/t.ts'

interface DateRangeFieldsProps {
  /** `YYYY-MM-DD`, or empty. */
  readonly de: string
  readonly ate: string
  readonly onChange: (change: { de: string } | { ate: string }) => void
}

/** Filters by a range of days; neither end can be chosen beyond the other. */
export function DateRangeFields({ de, ate, onChange }: DateRangeFieldsProps) {
  return (
    <>
      <Field label={t('De')}>
        {(control) => (
          <Input
            {...control}
            type="date"
            value={de}
            {...(ate === '' ? {} : { max: ate })}
            onChange={(event) => onChange({ de: event.target.value })}
          />
        )}
      </Field>
      <Field label={t('Até')}>
        {(control) => (
          <Input
            {...control}
            type="date"
            value={ate}
            {...(de === '' ? {} : { min: de })}
            onChange={(event) => onChange({ ate: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}
