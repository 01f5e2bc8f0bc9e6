/** A call to Asaas's API v3, and the function that answers it. */
import type { SandboxState } from './open-state.ts'
import type { PaymentLife } from './payment-life.ts'
import type { SandboxPayment } from './sandbox-records.ts'

export interface ApiCall {
  readonly method: string
  /** Starts with `/v3`. */
  readonly path: string
  readonly query: URLSearchParams
  /** Amounts in it are unparsed decimals, so that they stay exact. */
  readonly body: { readonly [name: string]: unknown }
  /** The amount that answers report for a payment; by default the true one. */
  readonly reportedCentsOf?: ((payment: SandboxPayment) => bigint) | undefined
}

export interface ApiRoute {
  /** For example `GET /v3/payments/{id}`. */
  readonly endpoint: string
  /** Throws a `Refusal`. */
  answer(call: ApiCall): object | Promise<object>
}

export type Answer = (call: ApiCall, id: string) => object | Promise<object>

export interface AnswerApiDeps {
  readonly state: SandboxState
  readonly life: PaymentLife
}
