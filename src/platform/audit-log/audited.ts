/**
 * The audit log of administrative and security-relevant acts. A row is written in the transaction of its act, so neither
 * exists without the other, and is never changed. Details contain no secrets and no personal data: ids identify the
 * people of an act.
 */
import { sql } from 'kysely'
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
  /** Whether the user of the login session proved their identity within the last ten minutes. */
  readonly isProved?: boolean | undefined
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

/** Carries the outcome of an undone act out of its transaction, which rolls back. */
class Undone<Result> extends Error {
  readonly outcome: Result

  constructor(outcome: Result) {
    super('an act was undone')
    this.outcome = outcome
  }
}

/**
 * Runs an act and writes its audit rows in one transaction: in `db` if it is one, otherwise in a new one. An act that
 * records nothing must have changed nothing. `undo` rolls the act and its rows back, and makes `audited` return the
 * given outcome; what the caller's transaction did before stays.
 */
export async function audited<Result>(
  db: Database,
  actor: Actor,
  work: (trx: Database, record: RecordAct, undo: (outcome: Result) => never) => Promise<Result>,
): Promise<Result> {
  let undone: Undone<Result> | undefined
  const undo = (outcome: Result): never => {
    undone = new Undone(outcome)
    throw undone
  }
  // Savepoints of the same name shadow each other, so acts may be nested.
  if (db.isTransaction) await sql`savepoint act`.execute(db)
  try {
    return await inTransaction(db, (trx) => work(trx, recorderOf(trx, actor), undo))
  } catch (error) {
    if (!undone || error !== undone) throw error
    if (db.isTransaction) await sql`rollback to savepoint act`.execute(db)
    return undone.outcome
  }
}

/** What PostgreSQL stores in no JSON, NUL and halves of characters, is replaced. */
function storable(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value
}

function recorderOf(trx: Database, actor: Actor): RecordAct {
  return async ({ action, customerId, subjectId, details }) => {
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
        details: details ? JSON.stringify(details, storable) : null,
      })
      .execute()
  }
}
