/** Interprets the errors of Asaas. Their codes, mostly `invalid_<field>`, are not documented. */
import type { InvalidCustomer, PayerField, Unavailable } from '../processor.ts'
import type { AsaasError } from './call-asaas.ts'

const FIELDS = new Map<string, PayerField>([
  ['customer', 'processor_customer_id'],
  ['name', 'name'],
  ['cpfCnpj', 'tax_id'],
  ['email', 'email'],
  ['phone', 'phone'],
  ['mobilePhone', 'phone'],
  ['postalCode', 'postal_code'],
  ['address', 'address'],
  ['addressNumber', 'address'],
  ['addressComplement', 'address'],
  ['complement', 'address'],
  ['province', 'address'],
])

/** Returns the first error: Asaas usually reports one at a time. */
export function firstError(errors: readonly AsaasError[]): AsaasError {
  return errors[0] ?? { code: 'unknown', description: 'sem descrição' }
}

/** Returns undefined if no error is about the payer. */
export function payerFieldOf(errors: readonly AsaasError[]): PayerField | undefined {
  for (const { code, description } of errors) {
    const field = FIELDS.get(code.replace(/^invalid_(?:creditCardHolderInfo\.?)?/, ''))
    if (field) return field
    // Observed: an invalid CPF has the code `invalid_object`.
    if (/^invalid_(object|creditCardHolderInfo)$/.test(code)) return fieldInWords(description)
  }
  return undefined
}

export function invalidCustomer(
  field: PayerField | undefined,
  errors: readonly AsaasError[],
): InvalidCustomer {
  return { kind: 'invalid_customer', field, detail: firstError(errors).description }
}

export function refusedOf(errors: readonly AsaasError[]): {
  readonly kind: 'refused'
  readonly code: string
  readonly detail: string
} {
  const { code, description } = firstError(errors)
  return { kind: 'refused', code, detail: description }
}

/** Returns the outcome of a complete answer whose content is not the expected one. */
export function badAnswer(mayHaveHappened: boolean, detail: string): Unavailable {
  return { kind: 'unavailable', mayHaveHappened, detail }
}

function fieldInWords(description: string): PayerField | undefined {
  if (/\b(CPF|CNPJ)\b/i.test(description)) return 'tax_id'
  if (/\be-?mail\b/i.test(description)) return 'email'
  if (/\bCEP\b/i.test(description)) return 'postal_code'
  if (/telefone|celular/i.test(description)) return 'phone'
  if (/endereço/i.test(description)) return 'address'
  return undefined
}
