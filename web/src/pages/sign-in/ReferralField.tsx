import { useState } from 'react'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { t } from '../../language/t.ts'

interface ReferralFieldProps {
  readonly code: string
  readonly onChange: (code: string) => void
}

/** Open for visitors who followed a referral link; others open it themselves. */
export function ReferralField({ code, onChange }: ReferralFieldProps) {
  const [isOpen, setOpen] = useState(code !== '')
  if (!isOpen)
    return (
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="inline-flex min-h-11 items-center self-start text-sm font-medium text-accent underline underline-offset-4 md:min-h-8"
      >
        {t('Tenho um código de indicação')}
      </button>
    )
  return (
    <Field
      label={t('Código de indicação (opcional)')}
      hint={t('De quem indicou a Catraca a você.')}
    >
      {(control) => (
        <Input
          {...control}
          name="referral"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={40}
          value={code}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
