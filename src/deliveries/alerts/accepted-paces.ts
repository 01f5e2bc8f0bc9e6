/**
 * The pace at which a key was paused. If its owner lets it go on, as much is usual from then on: the guard must not stop
 * the same work a minute later.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/** Whether the pace is the key's, or that of one session with it. */
export type PaceKind = 'key' | 'session'

export async function noteAcceptedPace(
  trx: Database,
  pace: { readonly keyId: string; readonly kind: PaceKind; readonly paceNanoBrl: NanoBrl },
): Promise<void> {
  const { keyId, kind, paceNanoBrl } = pace
  await sql`
    insert into accepted_paces (api_key_id, kind, pace_nano_brl) values (${keyId}, ${kind}, ${paceNanoBrl})
    on conflict (api_key_id, kind) do update set pace_nano_brl = excluded.pace_nano_brl, paused_at = now()`.execute(
    trx,
  )
}

/** Zero if there is none since the given time. */
export async function findAcceptedPace(
  db: Database,
  wanted: { readonly keyId: string; readonly kind: PaceKind; readonly since: Date },
): Promise<NanoBrl> {
  const row = await db
    .selectFrom('accepted_paces')
    .select('pace_nano_brl')
    .where('api_key_id', '=', wanted.keyId)
    .where('kind', '=', wanted.kind)
    .where('paused_at', '>=', wanted.since)
    .executeTakeFirst()
  return row?.pace_nano_brl ?? 0n
}
