import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'

/** A video of the sandbox upstream that was done a moment ago; returns its id as customers see it. */
export async function seedVideo(
  db: Database,
  { customerId, keyId }: { readonly customerId: string; readonly keyId: string },
): Promise<string> {
  const id = createId()
  const job = Buffer.from(JSON.stringify([0, 4, '720x1280', 'sandbox-video'])).toString('base64url')
  await sql`
    insert into videos (id, customer_id, api_key_id, model_id, upstream_id, upstream_job, price_id, unit, seconds, size,
      status, progress, completed_at)
    values (${id}, ${customerId}, ${keyId}, 'sandbox-video', 'sandbox', ${`video_${job}`},
      1, 'video_seconds', 4, '720x1280', 'completed', 100, now())`.execute(db)
  return `video_${id.replaceAll('-', '')}`
}
