/**
 * The lines of batches as work: any node claims them, and each is charged once. A result is stored before its charge,
 * with the id of the hold that the charge resolves, and only by the claim that is the newest (`tries`). So a line without
 * a hold was never charged, and may be called again; with one, the ledger says whether the stored result was paid.
 */
import { sql } from 'kysely'
import { claimDue, recordClaimed } from '../../platform/db/due-rows.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import type { LineOutcome } from '../../platform/db/tables.ts'
import { createId } from '../../platform/lib/ids.ts'
import { FILE_DAYS } from './batch-results.ts'

/** A node that is alive renews the claims of the lines that it works on; others take over those of one that died. */
const CLAIM_SECONDS = 60
/** A batch whose results have reached this size calls no more lines. */
export const RESULT_BYTES_MAX = 256 * 1024 * 1024

export interface ClaimedLine {
  readonly id: string
  readonly batchId: string
  readonly customerId: string
  readonly keyId: string
  readonly endpoint: string
  readonly tries: number
  /** The hold that pays for the result that is stored. */
  readonly holdId: string | null
  /** Of its input, as it is stored. */
  readonly bytes: number
  /** Why it is not called any more. */
  readonly over: 'canceled' | 'expired' | 'full' | null
}

/** Why lines of a batch are no longer called, of the row `b`. */
const OVER = sql`case when b.canceled_at is not null then 'canceled' when b.expires_at <= now() then 'expired'
  when b.bytes >= ${RESULT_BYTES_MAX}::int8 then 'full' end`

/** Claims lines of at most `customerMax` for each customer, with those in `running`, from batches by turns. */
export async function claimLines(
  db: Database,
  limit: number,
  customerMax: number,
  running: ReadonlyMap<string, number>,
): Promise<ClaimedLine[]> {
  const claimed: ClaimedLine[] = []
  const counts = new Map(running)
  const passed: string[] = []
  while (claimed.length < limit) {
    const full = [...counts].flatMap(([id, count]) => (count >= customerMax ? id : []))
    const batch = await pickBatch(db, passed, full)
    if (!batch) break
    const own = counts.get(batch.customerId) ?? 0
    const lines = await claimOf(db, batch.id, Math.min(limit - claimed.length, customerMax - own))
    claimed.push(...lines)
    counts.set(batch.customerId, own + lines.length)
    passed.push(batch.id)
  }
  return claimed
}

/** Any of the batches with a line that is due: in turns, no batch waits for the end of a larger one. */
async function pickBatch(
  db: Database,
  passed: readonly string[],
  fullCustomers: readonly string[],
): Promise<{ id: string; customerId: string } | undefined> {
  const { rows } = await sql<{ id: string; customerId: string }>`
    select b.id, b.customer_id as "customerId" from batches b
    where b.ended_at is null and (b.due_at <= now() or ${OVER} is not null)
      and b.id <> all(${passed}::uuid[]) and b.customer_id <> all(${fullCustomers}::uuid[])
      and exists (select from batch_lines l where l.batch_id = b.id and l.outcome is null and l.due_at <= now())
    order by random() limit 1`.execute(db)
  return rows[0]
}

function claimOf(db: Database, batchId: string, limit: number): Promise<ClaimedLine[]> {
  return claimDue<ClaimedLine>(
    db,
    {
      table: 'batch_lines',
      key: ['id'],
      isDue: sql`q.batch_id = ${batchId} and q.outcome is null and q.due_at <= now()`,
      orderBy: sql`q.due_at, q.place`,
      lease: sql`due_at = now() + make_interval(secs => ${CLAIM_SECONDS}), tries = q.tries + 1`,
      columns: sql`q.id, q.batch_id as "batchId", q.customer_id as "customerId", b.api_key_id as "keyId", b.endpoint,
        q.tries, q.hold_id as "holdId", octet_length(q.input_sealed) as bytes, ${OVER} as over`,
      columnsFrom: sql`join batches b on b.id = q.batch_id`,
    },
    limit,
  )
}

export async function readInput(db: Database, { id }: { readonly id: string }): Promise<Buffer> {
  const { input_sealed } = await db
    .selectFrom('batch_lines')
    .select('input_sealed')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return input_sealed ?? Buffer.alloc(0)
}

type Claim = Pick<ClaimedLine, 'id' | 'tries'>

const LINES = { table: 'batch_lines', key: ['id'] } as const

/** Keeps the claims of lines that are worked on, unless another node has claimed them since. */
export async function renewClaims(db: Database, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return
  const ids = claims.map(({ id }) => id)
  const tries = claims.map((claim) => claim.tries)
  await sql`
    update batch_lines l set due_at = now() + make_interval(secs => ${CLAIM_SECONDS})
    from unnest(${ids}::uuid[], ${tries}::int4[]) c (id, tries)
    where l.id = c.id and l.tries = c.tries and l.outcome is null`.execute(db)
}

/**
 * Stores the result of a line that is about to be charged by this hold. False: another node has claimed the line, and
 * nothing may be charged for this result.
 */
export function keepResult(
  db: Database,
  claim: Claim,
  { holdId, sealed, bytes }: { holdId: string; sealed: Buffer; bytes: number },
): Promise<boolean> {
  return recordClaimed(db, LINES, claim, {
    set: sql`hold_id = ${holdId}, result_sealed = ${sealed}, result_bytes = ${bytes}`,
    where: sql`q.outcome is null`,
  })
}

/** Gives a line back: it is due again after so many seconds, and with `all` no other line of its batch before. */
export async function postponeLine(
  db: Database,
  claim: ClaimedLine,
  { seconds, all }: { seconds: number; all: boolean },
): Promise<void> {
  const at = sql`now() + make_interval(secs => ${seconds})`
  await recordClaimed(db, LINES, claim, { set: sql`due_at = ${at}` })
  if (all)
    await sql`update batches set due_at = greatest(due_at, ${at}) where id = ${claim.batchId}`.execute(
      db,
    )
}

/** Ends a line; the last one ends its batch. The result is the one that is stored already, or this one. */
export function finishLine(
  db: Database,
  claim: ClaimedLine,
  outcome: LineOutcome,
  result?: { sealed: Buffer; bytes: number },
): Promise<void> {
  const { id, batchId, tries } = claim
  const given = result
    ? sql`, result_sealed = ${result.sealed}, result_bytes = ${result.bytes}`
    : sql``
  return inTransaction(db, async (trx) => {
    await sql`select from batches where id = ${batchId} for no key update`.execute(trx)
    const { rows } = await sql<{ bytes: number }>`
      update batch_lines set outcome = ${outcome}, input_sealed = null ${given}
      where id = ${id} and tries = ${tries} and outcome is null
      returning result_bytes as bytes`.execute(trx)
    const [finished] = rows
    if (!finished) return
    const counted = sql.ref(outcome)
    const { rows: batches } = await sql<{ hasEnded: boolean }>`
      update batches set ${counted} = ${counted} + 1, bytes = bytes + ${finished.bytes},
        ended_at = case when succeeded + errored + canceled + expired + 1 = lines then now() end
      where id = ${batchId} returning ended_at is not null and input_file_id is not null as "hasEnded"`.execute(
      trx,
    )
    if (batches[0]?.hasEnded === true) await addResultFiles(trx, batchId)
  })
}

/** The files that the client of a batch of a file reads its results from: one of what succeeded, one of what did not. */
async function addResultFiles(trx: Database, batchId: string): Promise<void> {
  await sql`
    insert into files (id, customer_id, api_key_id, name, bytes, batch_id, is_of_errors, expires_at)
    select f.id, b.customer_id, b.api_key_id, 'batch_' || replace(b.id::text, '-', '') || f.name, f.bytes, b.id, f.is_of_errors,
      b.created_at + make_interval(days => ${FILE_DAYS})
    from batches b cross join lateral (
      select case when l.outcome <> 'succeeded' then ${createId()}::uuid else ${createId()}::uuid end as id,
        case when l.outcome <> 'succeeded' then '_errors.jsonl' else '_output.jsonl' end as name,
        l.outcome <> 'succeeded' as is_of_errors, sum(l.result_bytes) as bytes
      from batch_lines l where l.batch_id = b.id group by 1, 2, 3
    ) f
    where b.id = ${batchId}`.execute(trx)
}
