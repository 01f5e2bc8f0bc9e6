import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { MaskedInput } from '../../components/MaskedInput.tsx'
import { maskPhone, maskPostalCode, maskTaxId } from '../../format/masks.ts'
import type { Profile } from '../profile/profile-queries.ts'
import { FieldGroup } from './FieldGroup.tsx'
import { t } from '../../language/t.ts'

interface HolderFieldsProps {
  readonly profile: Profile | null
  readonly email: string
}

/** The card holder's data, prefilled from the profile. */
export function HolderFields({ profile, email }: HolderFieldsProps) {
  return (
    <FieldGroup legend={t('Titular')}>
      <Field label={t('Nome completo')} className="sm:col-span-2">
        {(control) => (
          <Input
            {...control}
            name="name"
            autoComplete="name"
            maxLength={200}
            defaultValue={profile?.full_name}
            required
          />
        )}
      </Field>
      <Field label={t('CPF ou CNPJ')}>
        {(control) => (
          <MaskedInput
            {...control}
            mask={maskTaxId}
            name="cpf_cnpj"
            autoComplete="off"
            defaultValue={profile?.cpf_cnpj}
            required
          />
        )}
      </Field>
      <Field label={t('Telefone')}>
        {(control) => (
          <MaskedInput
            {...control}
            mask={maskPhone}
            name="phone"
            type="tel"
            autoComplete="tel"
            defaultValue={profile?.phone ?? ''}
            required
          />
        )}
      </Field>
      <Field label={t('E-mail')} className="sm:col-span-2">
        {(control) => (
          <Input
            {...control}
            name="email"
            type="email"
            autoComplete="email"
            maxLength={254}
            defaultValue={email}
            required
          />
        )}
      </Field>
      <Field label={t('CEP')}>
        {(control) => (
          <MaskedInput
            {...control}
            mask={maskPostalCode}
            name="postal_code"
            inputMode="numeric"
            autoComplete="postal-code"
            defaultValue={profile?.postal_code ?? ''}
            required
          />
        )}
      </Field>
      <Field label={t('Número do endereço')}>
        {(control) => (
          <Input
            {...control}
            name="address_number"
            maxLength={20}
            defaultValue={profile?.street_number ?? ''}
            required
          />
        )}
      </Field>
    </FieldGroup>
  )
}
