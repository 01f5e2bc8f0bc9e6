/** A call of an operation and its expected status; `open-api.test.ts` compares the answer with the contract. */
export interface ContractCase {
  /** The path with its query, if it is not the operation's own path. */
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Called without a key. */
  readonly isAnonymous?: boolean
  /** Called with another key. */
  readonly secret?: string
  /** 200 if not given. */
  readonly status?: number
}

/**
 * The cases by operation, such as `GET /usage`. Each file of this folder exports `createCases(gateway)`, which
 * returns the cases of its routes and seeds their rows; the cases are called in order.
 */
export type ContractCases = Record<string, readonly ContractCase[]>
