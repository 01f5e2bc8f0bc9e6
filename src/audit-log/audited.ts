/**
 * The audit log: every administrative and security-relevant act, told in the transaction of the act, so
 * that neither is there without the other. Rows are never changed. Details hold no secret and nothing
 * personal: whom an act is about, its ids say.
 */
import { inTransaction, type Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

export interface Actor {
  /** `operator`: whoever has a shell on the server. `system`: a job, or the first start. */
  readonly kind: 'customer' | 'operator' | 'system'
  /** Of a customer: who acts. */
  readonly customerId?: string
  /** By which key, or in which session. */
  readonly apiKeyId?: string | undefined
  readonly sessionId?: string | undefined
  readonly ip?: string
}

export interface Act {
  /** `thing.done`: `api_key.revoked`. */
  readonly action: `${string}.${string}`
  /** Whom it is about. */
  readonly customerId: string | null
  /** The thing it was done to. */
  readonly subjectId: string | null
  readonly details?: Readonly<Record<string, unknown>>
}

export type RecordAct = (act: Act) => Promise<void>

export const OPERATOR: Actor = { kind: 'operator' }
export const SYSTEM: Actor = { kind: 'system' }

/** Does the work in a transaction, the one that `db` is or its own, and tells the log of it there; work that tells of nothing changed nothing. */
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
