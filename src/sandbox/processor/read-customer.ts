import { readTaxId } from '../../platform/lib/tax-id.ts'
import { brasiliaDate } from './brasilia-time.ts'
import type { SandboxState } from './open-state.ts'
import type { SandboxCustomer } from './sandbox-records.ts'
import { Refusal } from './asaas-format.ts'

type Body = { readonly [name: string]: unknown }

const TEXT_FIELDS = [
  'name',
  'email',
  'phone',
  'mobilePhone',
  'address',
  'addressNumber',
  'complement',
  'province',
  'postalCode',
  'cpfCnpj',
  'externalReference',
  'observations',
]

export function createCustomer(state: SandboxState, body: Body): SandboxCustomer {
  const customer: SandboxCustomer = {
    id: `cus_${String(state.nextNumber()).padStart(12, '0')}`,
    dateCreated: brasiliaDate(new Date()),
    isDeleted: false,
    fields: readFields(body, {}),
  }
  state.customers.set(customer.id, customer)
  return customer
}

export function changeCustomer(customer: SandboxCustomer, body: Body): void {
  customer.fields = readFields(body, customer.fields)
}

/** Throws a `Refusal`. Fields that are not sent stay unchanged. */
function readFields(body: Body, before: SandboxCustomer['fields']): SandboxCustomer['fields'] {
  const fields: Record<string, string | boolean | null> = {}
  for (const name of TEXT_FIELDS) {
    const value = body[name]
    fields[name] = typeof value === 'string' ? value : (before[name] ?? null)
  }
  fields.notificationDisabled = body.notificationDisabled === true
  if (!fields.name) throw new Refusal(400, 'invalid_name', 'O nome do cliente deve ser informado.')
  fields.cpfCnpj = readCpfCnpj(fields.cpfCnpj)
  if (fields.email && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(fields.email))) {
    throw new Refusal(400, 'invalid_email', 'O e-mail informado é inválido.')
  }
  for (const name of ['phone', 'mobilePhone']) {
    const digits = fields[name]
    // A number that repeats one digit is refused, too.
    if (digits && (!/^\d{10,11}$/.test(String(digits)) || /^\d\d(\d)\1+$/.test(String(digits)))) {
      throw new Refusal(400, `invalid_${name}`, 'O telefone informado é inválido.')
    }
  }
  return fields
}

/** Refuses letters: Asaas documents no support for the newer, alphanumeric CNPJs. */
function readCpfCnpj(value: string | boolean | null | undefined): string {
  const digits = String(value ?? '').replaceAll(/[./\-\s]/g, '')
  const reading = readTaxId(digits)
  if (!/^\d+$/.test(digits) || !('taxId' in reading)) {
    throw new Refusal(400, 'invalid_object', 'O CPF/CNPJ informado é inválido.')
  }
  return reading.taxId
}
