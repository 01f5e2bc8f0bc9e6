/**
 * Start here. Stores discrepancies between our books and those of the processor and the upstreams. A discrepancy is one
 * permanent row per subject and kind. It is open until an operator explains it (for exactly these amounts) or a later
 * check no longer finds it, and opens again when it recurs. A check reports all its findings on a subject at once.
 */
import { sql, type Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { isOwnAccount } from '../../platform/audit-log/is-own-account.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'
import { decimalBrl, decimalUsd, type NanoBrl, type PicoUsd } from '../../platform/lib/money.ts'

export type DiscrepancyRow = Selectable<Tables['reconciliation_discrepancies']>

export interface Finding {
  readonly kind: DiscrepancyRow['kind']
  readonly oursNanoBrl?: NanoBrl
  readonly theirsNanoBrl?: NanoBrl
  readonly oursPicoUsd?: PicoUsd
  readonly theirsPicoUsd?: PicoUsd
}

/** The subject of the findings, and its references. */
export interface FoundIn {
  readonly subject: string
  readonly processor?: string | null
  readonly processorPaymentId?: string | null
  readonly topUpId?: string | null
  readonly upstreamId?: string
  readonly day?: string
}

/** Takes all findings on the subject: its stored discrepancies that are not among them become `gone`. */
export function recordFindings(
  db: Database,
  found: FoundIn,
  findings: readonly Finding[],
  log: Log,
): Promise<void> {
  return inTransaction(db, async (trx) => {
    for (const finding of findings) {
      const { id, hasOpened } = await upsertDiscrepancy(trx, found, finding)
      if (hasOpened)
        log.error('reconciliation_discrepancy_opened', { id, ...found, ...factsOf(finding) })
    }
    const gone = await closeDiscrepancies(
      trx,
      found.subject,
      findings.map(({ kind }) => kind),
    )
    for (const id of gone) log.info('reconciliation_discrepancy_gone', { id, ...found })
  })
}

/**
 * Keeps an explanation only while the amounts are the explained ones. A discrepancy that was open before this transaction
 * never has its time as `opened_at`: two transactions may begin in the same microsecond.
 */
async function upsertDiscrepancy(
  trx: Database,
  found: FoundIn,
  finding: Finding,
): Promise<{ id: string; hasOpened: boolean }> {
  const { rows } = await sql<{ id: string; has_opened: boolean }>`
    insert into reconciliation_discrepancies as d (
      id, subject, kind, processor, processor_payment_id, top_up_id, upstream_id, day,
      ours_nano_brl, theirs_nano_brl, ours_pico_usd, theirs_pico_usd)
    values (
      ${createId()}, ${found.subject}, ${finding.kind}, ${found.processor ?? null},
      ${found.processorPaymentId ?? null}, ${found.topUpId ?? null}, ${found.upstreamId ?? null},
      ${found.day ?? null}, ${finding.oursNanoBrl ?? null}, ${finding.theirsNanoBrl ?? null},
      ${finding.oursPicoUsd ?? null}, ${finding.theirsPicoUsd ?? null})
    on conflict (subject, kind) do update set
      (status, explanation, explainer, explained_at) = (
        select case when known.text is null then 'open' else 'explained' end,
          known.text, case when known.text is not null then d.explainer end,
          case when known.text is not null then d.explained_at end
        from (select case when
          (d.ours_nano_brl, d.theirs_nano_brl, d.ours_pico_usd, d.theirs_pico_usd) is not distinct from
          (excluded.ours_nano_brl, excluded.theirs_nano_brl, excluded.ours_pico_usd, excluded.theirs_pico_usd)
          then d.explanation end as text) known),
      opened_at = case when d.status <> 'open' and (d.explanation is null or
          (d.ours_nano_brl, d.theirs_nano_brl, d.ours_pico_usd, d.theirs_pico_usd) is distinct from
          (excluded.ours_nano_brl, excluded.theirs_nano_brl, excluded.ours_pico_usd, excluded.theirs_pico_usd))
        then now() else least(d.opened_at, now() - interval '1 microsecond') end,
      processor_payment_id = excluded.processor_payment_id,
      ours_nano_brl = excluded.ours_nano_brl, theirs_nano_brl = excluded.theirs_nano_brl,
      ours_pico_usd = excluded.ours_pico_usd, theirs_pico_usd = excluded.theirs_pico_usd,
      last_seen_at = now(), resolved_at = null
    returning d.id, d.opened_at = now() as has_opened`.execute(trx)
  const [row] = rows
  if (!row) throw new Error('a discrepancy was not stored')
  return { id: row.id, hasOpened: row.has_opened }
}

/** Marks the subject's discrepancies that were not seen as gone, and returns their ids. */
async function closeDiscrepancies(
  trx: Database,
  subject: string,
  seen: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update reconciliation_discrepancies set status = 'gone', resolved_at = now()
    where subject = ${subject} and status <> 'gone' and kind <> all(${seen}::text[])
    returning id`.execute(trx)
  return rows.map(({ id }) => id)
}

/** The finding for the log, with amounts as decimal strings. */
function factsOf({
  kind,
  oursNanoBrl,
  theirsNanoBrl,
  oursPicoUsd,
  theirsPicoUsd,
}: Finding): object {
  return oursPicoUsd === undefined
    ? { kind, oursBrl: decimalBrl(oursNanoBrl ?? 0n), theirsBrl: decimalBrl(theirsNanoBrl ?? 0n) }
    : { kind, oursUsd: decimalUsd(oursPicoUsd), theirsUsd: decimalUsd(theirsPicoUsd ?? 0n) }
}

export type Explained =
  | { readonly kind: 'explained'; readonly discrepancy: DiscrepancyRow }
  | { readonly kind: 'difference_not_found' }
  /** The discrepancy no longer exists, so there is nothing to explain. */
  | { readonly kind: 'difference_gone' }
  | { readonly kind: 'own_account' }

/** A later explanation replaces an earlier one. */
export function explainDiscrepancy(
  db: Database,
  actor: Actor,
  { id, explanation }: { id: string; explanation: string },
): Promise<Explained> {
  return audited(db, actor, async (trx, record): Promise<Explained> => {
    if (await isOwnPayment(trx, actor, id)) return { kind: 'own_account' }
    const explainer = actor.kind === 'customer' ? 'admin' : 'operator'
    const explained = await storeExplanation(trx, { id, explanation, explainer })
    if (explained.kind === 'explained')
      await record({
        action: 'reconciliation_difference.explained',
        customerId: null,
        subjectId: explained.discrepancy.id,
        details: { kind: explained.discrepancy.kind, explanation },
      })
    return explained
  })
}

/** Nobody settles the doubts about a payment to their own account. */
async function isOwnPayment(
  trx: Database,
  { customerId: operatorId }: Actor,
  id: string,
): Promise<boolean> {
  if (!isUuid(id)) return false
  const payment = await trx
    .selectFrom('reconciliation_discrepancies')
    .innerJoin('top_ups', 'top_ups.id', 'reconciliation_discrepancies.top_up_id')
    .select('top_ups.customer_id as customerId')
    .where('reconciliation_discrepancies.id', '=', id)
    .executeTakeFirst()
  return payment !== undefined && isOwnAccount(trx, { operatorId, ...payment })
}

async function storeExplanation(
  trx: Database,
  input: { id: string; explanation: string; explainer: 'operator' | 'admin' },
): Promise<Explained> {
  if (!isUuid(input.id)) return { kind: 'difference_not_found' }
  const row = await trx
    .selectFrom('reconciliation_discrepancies')
    .select('status')
    .where('id', '=', input.id)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return { kind: 'difference_not_found' }
  if (row.status === 'gone') return { kind: 'difference_gone' }
  const discrepancy = await trx
    .updateTable('reconciliation_discrepancies')
    .set({
      status: 'explained',
      explanation: input.explanation,
      explainer: input.explainer,
      explained_at: sql<Date>`now()`,
    })
    .where('id', '=', input.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { kind: 'explained', discrepancy }
}

export async function countOpenDiscrepancies(db: Database): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from reconciliation_discrepancies where status = 'open'`.execute(db)
  return Number(rows[0]?.count ?? 0n)
}

/**
 * Returns the subjects of payment discrepancies that are not gone, of any age: the next comparison checks them again.
 */
export async function listUnresolvedSubjects(db: Database, processor: string): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select distinct subject from reconciliation_discrepancies
    where status <> 'gone' and processor = ${processor} order by 1`.execute(db)
  return rows.map(({ subject }) => subject)
}
