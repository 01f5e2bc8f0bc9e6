import type { EnsureCustomerOutcome, PayerDetails, RemoveCustomerOutcome } from '../processor.ts'
import type { Answer, CallAsaas, AsaasError } from './call-asaas.ts'
import { textOf } from './read-payment.ts'
import { badAnswer, firstError, invalidCustomer, payerFieldOf } from './read-refusal.ts'
import { isObject } from '../../../platform/lib/is-object.ts'

export async function ensureCustomer(
  call: CallAsaas,
  details: PayerDetails,
  knownId: string | undefined,
): Promise<EnsureCustomerOutcome> {
  if (knownId !== undefined) {
    const updated = await updateCustomer(call, knownId, details)
    if (!isGone(updated)) return readCustomer(updated, details)
  }
  const found = await findCustomer(call, details.ourId)
  if (found.kind === 'unavailable') return found
  if (found.id !== undefined && found.id !== knownId) {
    const updated = await updateCustomer(call, found.id, details)
    if (!isGone(updated)) return readCustomer(updated, details)
  }
  const created = await call({
    method: 'POST',
    path: '/customers',
    endpoint: 'POST /customers',
    body: customerBody(details),
  })
  return readCustomer(created, details)
}

/** Concurrent calls may have created a few customers for one of ours. */
const DUPLICATES_MAX = 10

export async function removeCustomer(
  call: CallAsaas,
  ourId: string,
): Promise<RemoveCustomerOutcome> {
  for (let tries = 0; tries < DUPLICATES_MAX; tries++) {
    const found = await findCustomer(call, ourId)
    if (found.kind === 'unavailable') return found
    if (found.id === undefined) return { kind: 'removed' }
    const answer = await call({
      method: 'DELETE',
      path: `/customers/${encodeURIComponent(found.id)}`,
      endpoint: 'DELETE /customers/{id}',
    })
    if (answer.kind === 'unavailable') return answer
    if (answer.kind === 'refused' && !isGone(answer))
      return { kind: 'refused', detail: firstError(answer.errors).description }
  }
  return { kind: 'refused', detail: 'the customer is listed after its deletion' }
}

function updateCustomer(call: CallAsaas, id: string, details: PayerDetails): Promise<Answer> {
  return call({
    method: 'PUT',
    path: `/customers/${encodeURIComponent(id)}`,
    endpoint: 'PUT /customers/{id}',
    body: customerBody(details),
  })
}

/** Finds a customer by our id, so that one whose creation got no answer is not created again. */
async function findCustomer(
  call: CallAsaas,
  ourId: string,
): Promise<{ kind: 'found'; id: string | undefined } | Extract<Answer, { kind: 'unavailable' }>> {
  const answer = await call({
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
  // Filtered here as well: if Asaas ignored the filter, the list would contain other customers.
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
  // Asaas refuses the letters of newer CNPJs like wrong check digits, but we have verified the digits before.
  return refusal.field === 'tax_id' && /[A-Z]/.test(taxId)
    ? { kind: 'cnpj_not_supported', detail: refusal.detail }
    : refusal
}

/** Whether the customer was deleted in Asaas's panel. */
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
    // Otherwise Asaas sends messages to our customers, and charges us for them.
    notificationDisabled: true,
  }
}

/** A mobile number has nine digits after the two of the area code, and the first of them is a 9. */
function phoneFields(phone: string | undefined): { mobilePhone?: string; phone?: string } {
  if (phone === undefined) return {}
  const digits = phone.replaceAll(/\D/g, '').replace(/^55(?=\d{10,11}$)/, '')
  return /^\d{2}9\d{8}$/.test(digits) ? { mobilePhone: digits } : { phone: digits }
}
