/** The calls of Asaas's API v3 that the adapter makes, and those of its sandbox. */
import { createCustomerAnswers } from './customer-answers.ts'
import type { SandboxState } from './open-state.ts'
import { createPaymentAnswers, createSandboxAnswers } from './payment-answers.ts'
import type { PaymentLife } from './payment-life.ts'
import type { SandboxPayment } from './sandbox-records.ts'
import { Refusal } from './wire-format.ts'

export interface ApiCall {
  readonly method: string
  /** From `/v3` on. */
  readonly path: string
  readonly query: URLSearchParams
  /** Amounts in it are still digits. */
  readonly body: { readonly [name: string]: unknown }
  /** What answers about payments shall tell of their amount: the truth, if not given. */
  readonly toldCentsOf?: ((payment: SandboxPayment) => bigint) | undefined
}

export interface ApiRoute {
  /** As `GET /v3/payments/{id}`. */
  readonly endpoint: string
  /** Throws a `Refusal`. */
  answer(call: ApiCall): object | Promise<object>
}

export interface AnswerApiDeps {
  readonly state: SandboxState
  readonly life: PaymentLife
}

export type Answer = (call: ApiCall, id: string) => object | Promise<object>

/** Undefined where there is no such call. */
export function createFindRoute(
  deps: AnswerApiDeps,
): (call: Pick<ApiCall, 'method' | 'path'>) => ApiRoute | undefined {
  const answers = new Map(
    Object.entries({
      ...createCustomerAnswers(deps.state),
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
