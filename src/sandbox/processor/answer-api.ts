/** The endpoints of Asaas's API v3 that the adapter calls, and those of Asaas's sandbox. */
import type { AnswerApiDeps, ApiCall, ApiRoute } from './api-call.ts'
import { createCustomerAnswers } from './customer-answers.ts'
import { createPaymentAnswers, createSandboxAnswers } from './payment-answers.ts'
import { Refusal } from './asaas-format.ts'

/** The returned function gives undefined for an unknown endpoint. */
export function createFindRoute(
  deps: AnswerApiDeps,
): (call: Pick<ApiCall, 'method' | 'path'>) => ApiRoute | undefined {
  const answers = new Map(
    Object.entries({
      ...createCustomerAnswers(deps),
      ...createPaymentAnswers(deps),
      ...createSandboxAnswers(deps),
    }),
  )
  return ({ method, path }) => {
    const [, , room, second, third, fourth] = path.split('/')
    const ids = path.startsWith('/v3/sandbox/payment/') ? third : second
    const names =
      room === 'sandbox'
        ? ['sandbox', second, '{id}', fourth]
        : [room, room === 'creditCard' ? second : second && '{id}', third]
    const rest = names.filter((name) => name !== undefined && name !== '')
    const endpoint = `${method} /v3/${rest.join('/')}`
    const answer = answers.get(endpoint)
    return answer && { endpoint, answer: (call) => answer(call, decodeId(ids ?? '')) }
  }
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal(404, 'not_found', 'Recurso não encontrado.')
  }
}
