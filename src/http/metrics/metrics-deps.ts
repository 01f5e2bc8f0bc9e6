import type { OperatorAccess } from '../rest/is-operator.ts'

export interface MetricsDeps {
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  readonly operatorAccess: OperatorAccess
}
