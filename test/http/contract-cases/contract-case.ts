/** A call of an operation and what it is answered with; `open-api.test.ts` holds the answer against the contract. */
export interface ContractCase {
  /** With its query, where it is not the operation's own path. */
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Called without the key. */
  readonly isAnonymous?: boolean
  /** Called with another key. */
  readonly secret?: string
  /** 200 if not given. */
  readonly status?: number
}

/**
 * By operation, as in `GET /usage`. Each file of this folder exports `createCases(gateway)`, which gives those
 * of its routes and makes what they need; the cases are called in their order.
 */
export type ContractCases = Record<string, readonly ContractCase[]>
