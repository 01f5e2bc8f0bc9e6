import type { EnsureCustomerOutcome, PayerDetails } from '../processor.ts'
import type { Answer, AskAsaas, AsaasError } from './ask.ts'
import { textOf } from './read-payment.ts'
import { badAnswer, invalidCustomer, payerFieldOf } from './read-refusal.ts'
import { isObject } from '../../lib/is-object.ts'

export async function ensureCustomer(
  ask: AskAsaas,
  details: PayerDetails,
  knownId: string | undefined,
): Promise<EnsureCustomerOutcome> {
  if (knownId !== undefined) {
    const updated = await updateCustomer(ask, knownId, details)
    if (!isGone(updated)) return readCustomer(updated, details)
  }
  const found = await findCustomer(ask, details.ourId)
  if (found.kind === 'unavailable') return found
  if (found.id !== undefined && found.id !== knownId) {
    const updated = await updateCustomer(ask, found.id, details)
    if (!isGone(updated)) return readCustomer(updated, details)
  }
  const created = await ask({
    method: 'POST',
    path: '/customers',
    endpoint: 'POST /customers',
    body: customerBody(details),
  })
  return readCustomer(created, details)
}

function updateCustomer(ask: AskAsaas, id: string, details: PayerDetails): Promise<Answer> {
  return ask({
    method: 'PUT',
    path: `/customers/${encodeURIComponent(id)}`,
    endpoint: 'PUT /customers/{id}',
    body: customerBody(details),
  })
}

/** So that a customer whose creation was answered to nobody is not made again. */
async function findCustomer(
  ask: AskAsaas,
  ourId: string,
): Promise<{ kind: 'found'; id: string | undefined } | Extract<Answer, { kind: 'unavailable' }>> {
  const answer = await ask({
    method: 'GET',
    path: `/customers?externalReference=${encodeURIComponent(ourId)}&limit=100`,
    endpoint: 'GET /customers',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') {
    return badAnswer(false, `the list of customers: status ${answer.status}`)
  }
  const { data } = answer.body
  if (!Array.isArray(data)) return badAnswer(false, 'the list of customers has no data')
  // Asked again here: a filter that is not understood would give the customers of everybody.
  const own = data
    .filter(isObject)
    .find(({ externalReference, deleted }) => externalReference === ourId && deleted !== true)
  return { kind: 'found', id: textOf(own?.id) }
}

function readCustomer(answer: Answer, { taxId }: PayerDetails): EnsureCustomerOutcome {
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return readRefusal(answer.errors, taxId)
  const id = textOf(answer.body.id)
  return id === undefined
    ? badAnswer(true, 'the customer has no id')
    : { kind: 'customer', customer: { id } }
}

function readRefusal(errors: readonly AsaasError[], taxId: string): EnsureCustomerOutcome {
  const refusal = invalidCustomer(payerFieldOf(errors), errors)
  // The letters of newer CNPJs are refused like wrong check digits, which we have looked at before.
  return refusal.field === 'tax_id' && /[A-Z]/.test(taxId)
    ? { kind: 'cnpj_not_supported', detail: refusal.detail }
    : refusal
}

/** Somebody deleted it in Asaas's panel. */
function isGone(answer: Answer): boolean {
  if (answer.kind === 'ok') return answer.body.deleted === true
  if (answer.kind !== 'refused') return false
  return (
    answer.status === 404 ||
    answer.errors.some(({ description }) => /removid|exclu[ií]d/i.test(description))
  )
}

function customerBody(details: PayerDetails): object {
  return {
    name: details.name,
    cpfCnpj: details.taxId,
    email: details.email,
    ...phoneFields(details.phone),
    postalCode: details.postalCode?.replaceAll(/\D/g, ''),
    address: details.address,
    addressNumber: details.addressNumber,
    complement: details.complement,
    province: details.district,
    externalReference: details.ourId,
    // Else Asaas writes to our customers, and charges us for it.
    notificationDisabled: true,
  }
}

/** Mobile numbers have nine digits and begin with a 9, after the two of the area. */
function phoneFields(phone: string | undefined): { mobilePhone?: string; phone?: string } {
  if (phone === undefined) return {}
  const digits = phone.replaceAll(/\D/g, '').replace(/^55(?=\d{10,11}$)/, '')
  return /^\d{2}9\d{8}$/.test(digits) ? { mobilePhone: digits } : { phone: digits }
}
