/** A call of Asaas's API v3, and the function that answers it. */
import type { SandboxState } from './open-state.ts'
import type { PaymentLife } from './payment-life.ts'
import type { SandboxPayment } from './sandbox-records.ts'

export interface ApiCall {
  readonly method: string
  /** From `/v3` on. */
  readonly path: string
  readonly query: URLSearchParams
  /** Amounts in it are still digits. */
  readonly body: { readonly [name: string]: unknown }
  /** The amount that answers about a payment give; its true amount, if not given. */
  readonly toldCentsOf?: ((payment: SandboxPayment) => bigint) | undefined
}

export interface ApiRoute {
  /** Such as `GET /v3/payments/{id}`. */
  readonly endpoint: string
  /** Throws a `Refusal`. */
  answer(call: ApiCall): object | Promise<object>
}

export type Answer = (call: ApiCall, id: string) => object | Promise<object>

export interface AnswerApiDeps {
  readonly state: SandboxState
  readonly life: PaymentLife
}
