/**
 * The audit log of administrative and security-relevant acts. A row is written in the transaction of its act, so neither
 * exists without the other, and is never changed. Details contain no secrets and no personal data: ids identify the
 * people of an act.
 */
import { inTransaction, type Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

export interface Actor {
  /** `operator`: a person with a shell on the server. `system`: a background job, or the first start. */
  readonly kind: 'customer' | 'operator' | 'system'
  /** The acting customer, if the kind is `customer`. */
  readonly customerId?: string
  /** The API key or the login session of the act. */
  readonly apiKeyId?: string | undefined
  readonly sessionId?: string | undefined
  readonly ip?: string
}

export interface Act {
  /** `thing.done`: `api_key.revoked`. */
  readonly action: `${string}.${string}`
  /** The customer whom the act affects. */
  readonly customerId: string | null
  /** The id of the changed object. */
  readonly subjectId: string | null
  readonly details?: Readonly<Record<string, unknown>>
}

export type RecordAct = (act: Act) => Promise<void>

export const OPERATOR: Actor = { kind: 'operator' }
export const SYSTEM: Actor = { kind: 'system' }

/**
 * Runs `work` in a transaction (the one of `db`, or a new one). `work` must call `record` for each act; work that changed
 * nothing records nothing.
 */
export function audited<Result>(
  db: Database,
  actor: Actor,
  work: (trx: Database, record: RecordAct) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, (trx) =>
    work(trx, async ({ action, customerId, subjectId, details }) => {
      await trx
        .insertInto('audit_log')
        .values({
          id: createId(),
          actor_kind: actor.kind,
          actor_id: actor.customerId ?? null,
          api_key_id: actor.apiKeyId ?? null,
          session_id: actor.sessionId ?? null,
          ip: actor.ip ?? null,
          action,
          customer_id: customerId,
          subject_id: subjectId,
          details: details ? JSON.stringify(details) : null,
        })
        .execute()
    }),
  )
}
