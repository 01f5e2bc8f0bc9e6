import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, type ComponentProps, type SubmitEvent } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { api, type Body } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { MaskedInput } from '../../components/MaskedInput.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { useToast } from '../../components/Toast.tsx'
import { maskPhone, maskPostalCode, maskTaxId, type Mask } from '../../format/masks.ts'
import { formText } from '../../lib/form-text.ts'
import { profileQuery, type Profile } from './profile-queries.ts'

const STATES =
  'AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO'.split(' ')

const FAULTS: Readonly<Record<string, readonly [field: string, text: string]>> = {
  cpf_required: ['cpf_cnpj', 'Informe seu CPF ou o CNPJ da empresa.'],
  invalid_cpf_cnpj_format: [
    'cpf_cnpj',
    'Um CPF tem 11 dígitos, um CNPJ tem 14 caracteres. Confira se não falta nenhum.',
  ],
  invalid_cpf_cnpj_checksum: [
    'cpf_cnpj',
    'Este número não existe: os dois últimos dígitos não conferem. Veja se há um dígito trocado.',
  ],
}

const FIELD_FAULTS: Readonly<Record<string, string>> = {
  full_name: 'Escreva seu nome completo ou a razão social.',
  phone: 'Escreva o telefone com DDD, como (11) 98765-4321.',
  postal_code: 'Um CEP tem 8 dígitos, como 01310-100.',
  state: 'Escolha a UF.',
}

type FieldName = keyof Body<'put', '/me/profile'>

interface PersonFormProps {
  readonly profile: Profile | null
  readonly accountName: string | undefined
}

export function PersonForm({ profile, accountName }: PersonFormProps) {
  const queries = useQueryClient()
  const toast = useToast()
  const form = useRef<HTMLFormElement>(null)
  const save = useMutation({
    mutationFn: (body: Body<'put', '/me/profile'>) => api.put('/me/profile', body),
    onSuccess(saved) {
      queries.setQueryData(profileQuery.queryKey, saved)
      toast('Dados salvos.')
    },
    onError(error) {
      const control = form.current?.elements.namedItem(faultOf(error)?.[0] ?? '')
      if (control instanceof HTMLElement) control.focus()
    },
  })
  const fault = faultOf(save.error)
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    save.mutate(bodyOf(event.currentTarget))
  }
  /** What all text fields of the form have in common. */
  const text = (
    name: FieldName,
    label: string,
    { mask, className, hint, ...rest }: TextOptions = {},
  ) => (
    <Field
      label={label}
      hint={hint}
      error={fault?.[0] === name ? fault[1] : undefined}
      {...(className === undefined ? {} : { className })}
    >
      {(control) => {
        const given = profile?.[name] ?? (name === 'full_name' ? accountName : undefined) ?? ''
        const shared = { ...rest, ...control, name, defaultValue: given }
        return mask ? <MaskedInput {...shared} mask={mask} /> : <Input {...shared} />
      }}
    </Field>
  )

  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={() => save.isError && save.reset()}
      noValidate
      className="grid gap-5"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {text('full_name', 'Nome completo ou razão social', {
          className: 'sm:col-span-2',
          autoComplete: 'name',
          maxLength: 200,
          required: true,
        })}
        {text('cpf_cnpj', 'CPF ou CNPJ', {
          mask: maskTaxId,
          autoComplete: 'off',
          spellCheck: false,
          required: true,
          hint: 'Também o CNPJ com letras.',
        })}
        {text('phone', 'Telefone', { mask: maskPhone, type: 'tel', autoComplete: 'tel' })}
      </div>
      <fieldset>
        <legend className="mb-1 text-sm font-semibold">Endereço</legend>
        <p className="mb-4 text-sm text-muted">Opcional. Vai para o cadastro do pagamento.</p>
        <div className="grid gap-4 sm:grid-cols-6">
          {text('postal_code', 'CEP', {
            mask: maskPostalCode,
            className: 'sm:col-span-2',
            inputMode: 'numeric',
            autoComplete: 'postal-code',
          })}
          {text('street', 'Rua ou avenida', {
            className: 'sm:col-span-4',
            autoComplete: 'address-line1',
            maxLength: 200,
          })}
          {text('street_number', 'Número', { className: 'sm:col-span-2', maxLength: 20 })}
          {text('complement', 'Complemento', {
            className: 'sm:col-span-4',
            autoComplete: 'address-line2',
            maxLength: 100,
          })}
          {text('district', 'Bairro', {
            className: 'sm:col-span-2',
            autoComplete: 'address-level3',
            maxLength: 100,
          })}
          {text('city', 'Cidade', {
            className: 'sm:col-span-3',
            autoComplete: 'address-level2',
            maxLength: 100,
          })}
          <Field
            label="UF"
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
        </div>
      </fieldset>
      {save.error && !fault && (
        <Notice tone="danger" role="alert">
          {explainError(save.error)}
        </Notice>
      )}
      <Button type="submit" className="justify-self-start" isBusy={save.isPending}>
        Salvar dados
      </Button>
    </form>
  )
}

interface TextOptions extends Omit<ComponentProps<'input'>, 'name' | 'value' | 'defaultValue'> {
  readonly mask?: Mask
  readonly hint?: string
}

/** Which field, and what to do about it; undefined where it is not about one. */
function faultOf(error: unknown): readonly [field: string, text: string] | undefined {
  if (!(error instanceof ApiError)) return undefined
  const fault = FAULTS[error.code]
  if (fault || error.field === undefined) return fault
  return [error.field, FIELD_FAULTS[error.field] ?? 'Confira este campo.']
}

/** What is empty is cleared, but for the name: without one the stored one stays. */
function bodyOf(form: HTMLFormElement): Body<'put', '/me/profile'> {
  const fields = new FormData(form)
  const text = (name: FieldName): string | null => formText(fields, name) || null
  const fullName = text('full_name')
  return {
    ...(fullName === null ? {} : { full_name: fullName }),
    cpf_cnpj: text('cpf_cnpj'),
    phone: text('phone'),
    postal_code: text('postal_code'),
    street: text('street'),
    street_number: text('street_number'),
    complement: text('complement'),
    district: text('district'),
    city: text('city'),
    state: text('state') as NonNullable<Body<'put', '/me/profile'>['state']> | null,
  }
}
