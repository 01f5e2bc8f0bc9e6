import assert from 'node:assert/strict'
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../src/platform/db/open.ts'
import { createId, randomText } from '../../../src/platform/lib/ids.ts'
import type { Asked } from '../../harness/ask.ts'
import type { SeededPerson } from '../../harness/seed-person.ts'

export type Ids = Readonly<Record<string, string>>

const hexOf = (id: string): string => id.replaceAll('-', '')

/** One id of each kind that `requests.ts` has a place for. `spoken` is a stored response. */
export async function idsOfVictim(
  db: Database,
  { customerId, keyId, sessionId }: SeededPerson,
  spoken: Asked,
): Promise<Ids> {
  const own = sql`customer_id = ${customerId}`
  const first = async (table: string, where: RawBuilder<unknown> = own, column = 'id') => {
    const { rows } = await sql<{ id: string }>`
      select ${sql.ref(column)}::text as id from ${sql.table(table)} where ${where} limit 1`.execute(
      db,
    )
    assert.ok(rows[0], `${table} has nothing of the victim`)
    return rows[0].id
  }
  const team = await first('teams')
  return {
    customer: customerId,
    key: keyId,
    session: sessionId,
    team,
    teamKey: await first('api_keys', sql`team_id = ${team} and revoked_at is null`),
    invitation: await first('team_invitations', sql`team_id = ${team}`),
    prompt: await first('prompts'),
    alert: await first('alerts'),
    webhook: await first('webhook_endpoints'),
    attempt: await first('webhook_attempts'),
    destination: await first('usage_destinations'),
    bill: await first('public_bills'),
    token: await first('public_bills', own, 'token'),
    card: await first('payment_methods'),
    topUp: await first('top_ups'),
    refund: await first('refunds'),
    adjustment: await first('adjustments'),
    difference: await first(
      'reconciliation_discrepancies',
      sql`top_up_id in (select id from top_ups where ${own})`,
    ),
    event: await first('usage_events'),
    request: await first('usage_events', own, 'request_id'),
    image: await first('generated_images'),
    video: `video_${(await first('videos')).replaceAll('-', '')}`,
    response: spoken.json.id,
    file: `file-${hexOf(await first('files'))}`,
    batch: `batch_${hexOf(await first('batches', sql`${own} and input_file_id is not null`))}`,
    messageBatch: `msgbatch_${hexOf(await first('batches', sql`${own} and input_file_id is null`))}`,
    item: spoken.json.output[0].id,
  }
}

/** An id of nobody, as long as the ids of this kind: then answers have the same length, too. */
export function unknownId(kind: string): string {
  const digits = createId().replaceAll('-', '')
  const made: Ids = {
    token: randomText(32),
    image: randomText(32),
    session: `conversa-${randomText(12)}`,
    response: `resp_${digits}`,
    video: `video_${digits}`,
    item: `msg_${digits}0`,
    file: `file-${digits}`,
    batch: `batch_${digits}`,
    messageBatch: `msgbatch_${digits}`,
  }
  return made[kind] ?? createId()
}
