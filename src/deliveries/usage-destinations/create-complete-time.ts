import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { completeUntil, SEAL_MARGIN_SECONDS } from '../../money/ledger/audit/audit-seals.ts'

/** Returns the end of complete time, as an exact time: no charge that is committed later is settled before it. */
export type CompleteTime = () => Promise<string>

/** An older end stays valid, so one reading serves many destinations. */
const READ_EVERY_MS = 5_000

export function createCompleteTime(
  db: Database,
  {
    marginSeconds = SEAL_MARGIN_SECONDS,
    readEveryMs = READ_EVERY_MS,
  }: { readonly marginSeconds?: number | undefined; readonly readEveryMs?: number | undefined },
): CompleteTime {
  let reading: Promise<string> | undefined
  let readAtMs = -Infinity
  return () => {
    if (reading && performance.now() - readAtMs < readEveryMs) return reading
    readAtMs = performance.now()
    const now = read(db, marginSeconds)
    reading = now
    now.catch(() => {
      if (reading === now) reading = undefined
    })
    return now
  }
}

async function read(db: Database, marginSeconds: number): Promise<string> {
  const until = await completeUntil(db, marginSeconds)
  const { rows } = await sql<{ until: string }>`
    select ${exactTime('t.until')} as until from (select ${until}::timestamptz as until) t`.execute(
    db,
  )
  return (rows[0] as { until: string }).until
}
