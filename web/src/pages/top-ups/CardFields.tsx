import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { MaskedInput } from '../../components/MaskedInput.tsx'
import { maskCardNumber, maskExpiry } from '../../format/masks.ts'
import { FieldGroup } from './FieldGroup.tsx'
import { t } from '../../language/t.ts'

export function CardFields() {
  return (
    <FieldGroup legend={t('Cartão')}>
      <Field label={t('Número do cartão')} className="sm:col-span-2">
        {(control) => (
          <MaskedInput
            {...control}
            mask={maskCardNumber}
            name="number"
            inputMode="numeric"
            autoComplete="cc-number"
            minLength={13}
            required
          />
        )}
      </Field>
      <Field label={t('Nome como está no cartão')} className="sm:col-span-2">
        {(control) => (
          <Input {...control} name="holder_name" autoComplete="cc-name" maxLength={100} required />
        )}
      </Field>
      <Field label={t('Validade')} hint={t('MM/AA')}>
        {(control) => (
          <MaskedInput
            {...control}
            mask={maskExpiry}
            name="expiry"
            inputMode="numeric"
            autoComplete="cc-exp"
            pattern="\d{2}/\d{2}"
            title={t('Mês e ano, como 08/30')}
            required
          />
        )}
      </Field>
      <Field label={t('Código de segurança')} hint={t('3 ou 4 dígitos')}>
        {(control) => (
          <Input
            {...control}
            name="ccv"
            inputMode="numeric"
            autoComplete="cc-csc"
            pattern="\d{3,4}"
            maxLength={4}
            title={t('3 ou 4 dígitos')}
            required
          />
        )}
      </Field>
    </FieldGroup>
  )
}
