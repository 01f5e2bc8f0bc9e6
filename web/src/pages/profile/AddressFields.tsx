import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { maskPostalCode } from '../../format/masks.ts'
import { PersonText, type PersonValues } from './PersonText.tsx'
import { t } from '../../language/t.ts'

const STATES =
  'AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO'.split(' ')

export function AddressFields(values: PersonValues) {
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-semibold">{t('Endereço')}</legend>
      <p className="mb-4 text-sm text-muted">{t('Opcional. Vai para o cadastro do pagamento.')}</p>
      <div className="grid gap-4 sm:grid-cols-6">
        <PersonText
          {...values}
          name="postal_code"
          label={t('CEP')}
          mask={maskPostalCode}
          className="sm:col-span-2"
          inputMode="numeric"
          autoComplete="postal-code"
        />
        <PersonText
          {...values}
          name="street"
          label={t('Rua ou avenida')}
          className="sm:col-span-4"
          autoComplete="address-line1"
          maxLength={200}
        />
        <PersonText
          {...values}
          name="street_number"
          label={t('Número')}
          className="sm:col-span-2"
          maxLength={20}
        />
        <PersonText
          {...values}
          name="complement"
          label={t('Complemento')}
          className="sm:col-span-4"
          autoComplete="address-line2"
          maxLength={100}
        />
        <PersonText
          {...values}
          name="district"
          label={t('Bairro')}
          className="sm:col-span-2"
          autoComplete="address-level3"
          maxLength={100}
        />
        <PersonText
          {...values}
          name="city"
          label={t('Cidade')}
          className="sm:col-span-3"
          autoComplete="address-level2"
          maxLength={100}
        />
        <StateField {...values} />
      </div>
    </fieldset>
  )
}

function StateField({ profile, fault }: PersonValues) {
  return (
    <Field
      label={t('UF')}
      className="sm:col-span-1"
      error={fault?.[0] === 'state' ? fault[1] : undefined}
    >
      {(control) => (
        <Select
          {...control}
          name="state"
          autoComplete="address-level1"
          defaultValue={profile?.state ?? ''}
        >
          <option value="">–</option>
          {STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </Select>
      )}
    </Field>
  )
}
