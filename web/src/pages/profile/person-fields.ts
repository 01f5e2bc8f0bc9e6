/** Converts the form's fields to the API's body, and the API's refusals to faults of a field. */
import { ApiError } from '../../api/api-error.ts'
import type { Body } from '../../api/client.ts'
import { formText } from '../../lib/form-text.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export type PersonInput = Body<'put', '/me/profile'>
export type PersonField = keyof PersonInput
/** The field at fault, and the text to show. */
export type PersonFault = readonly [field: string, text: string]

const FAULTS = perLanguage((): Readonly<Record<string, PersonFault>> => ({
  cpf_required: ['cpf_cnpj', t('Informe seu CPF ou o CNPJ da empresa.')],
  invalid_cpf_cnpj_format: [
    'cpf_cnpj',
    t('Um CPF tem 11 dígitos, um CNPJ tem 14 caracteres. Confira se não falta nenhum.'),
  ],
  invalid_cpf_cnpj_checksum: [
    'cpf_cnpj',
    t(
      'Este número não é válido: os dois últimos dígitos não conferem. Veja se há um dígito trocado.',
    ),
  ],
}))

const FIELD_FAULTS = perLanguage((): Readonly<Record<string, string>> => ({
  full_name: t('Escreva seu nome completo ou a razão social.'),
  phone: t('Escreva o telefone com DDD, como (11) 98765-4321.'),
  postal_code: t('Um CEP tem 8 dígitos, como 01310-100.'),
  state: t('Escolha a UF.'),
}))

/** Undefined when the error does not concern a single field. */
export function faultOf(error: unknown): PersonFault | undefined {
  if (!(error instanceof ApiError)) return undefined
  const fault = FAULTS()[error.code]
  if (fault || error.field === undefined) return fault
  return [error.field, FIELD_FAULTS()[error.field] ?? t('Confira este campo.')]
}

/** An empty field clears the stored value, except the name: an empty name keeps the stored one. */
export function bodyOf(form: HTMLFormElement): PersonInput {
  const fields = new FormData(form)
  const text = (name: PersonField): string | null => formText(fields, name) || null
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
    state: text('state') as NonNullable<PersonInput['state']> | null,
  }
}
