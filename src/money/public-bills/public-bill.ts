import type { Selectable } from 'kysely'
import type { Tables } from '../../platform/db/tables.ts'

/** A link by which anybody can read a charge or a usage session, until its customer deletes the link. */
export interface PublicBill {
  readonly id: string
  /** Opens the bill without any other proof. */
  readonly token: string
  readonly usageEventId: string | null
  readonly sessionId: string | null
  readonly createdAt: Date
}

export function toPublicBill(row: Selectable<Tables['public_bills']>): PublicBill {
  return {
    id: row.id,
    token: row.token,
    usageEventId: row.usage_event_id,
    sessionId: row.session_id,
    createdAt: row.created_at,
  }
}
