/** The weekly digest for customers who subscribed to it: on Mondays from 8:00 in the customer's time zone. */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { findAccount } from '../../money/ledger/entries.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import { estimateRunway } from '../../money/usage/estimate-runway.ts'
import { addUp, byCost, sumColumns, toSums, type SumsRow } from '../../money/usage/usage-windows.ts'
import type { MailData } from './mail-content.ts'
import { mailId, queueMail } from './queue-mail.ts'

const TEMPLATE = 'resumo_semanal'
const MODELS_MAX = 3
const WEEK_DAYS = 7
const PAGE = 200

interface Reader {
  readonly id: string
  /** The date of the Monday after the week, in the customer's time zone. */
  readonly monday: string
  readonly from: Date
  readonly to: Date
  readonly first_day: string
  readonly last_day: string
}

/**
 * Covers the week from Monday to Sunday that has just ended in the customer's zone. Queues one digest for each
 * customer and week, however often it runs and on however many nodes; a missed run can be made up until the
 * Monday ends. Returns the number of queued digests.
 */
export async function queueDigests(db: Database, now: Date): Promise<number> {
  let queued = 0
  for (let after: string | undefined; ;) {
    const readers = await listReaders(db, now, after)
    for (const reader of await withoutQueued(db, readers)) {
      const data = await summarizeWeek(db, reader)
      await db.transaction().execute((trx) =>
        queueMail(trx, {
          customerId: reader.id,
          template: TEMPLATE,
          data,
          reference: referenceOf(reader),
        }),
      )
      queued += 1
    }
    if (readers.length < PAGE) return queued
    after = readers.at(-1)?.id
  }
}

function referenceOf({ id, monday }: Reader): string {
  return `${id} ${monday}`
}

/** Subscribers for whom it is Monday and who were charged in the week before. */
async function listReaders(db: Database, now: Date, after: string | undefined): Promise<Reader[]> {
  const { rows } = await sql<Reader>`
    select c.id, to_char(w.monday, 'YYYY-MM-DD') as monday,
      (w.monday - interval '7 days') at time zone c.timezone as "from", w.monday at time zone c.timezone as "to",
      to_char(w.monday - interval '7 days', 'YYYY-MM-DD') as first_day,
      to_char(w.monday - interval '1 day', 'YYYY-MM-DD') as last_day
    from customers c
    cross join lateral (select ${now}::timestamptz at time zone c.timezone as local_now) t
    cross join lateral (select date_trunc('week', t.local_now) as monday) w
    where c.weekly_digest_enabled and c.deleted_at is null and c.email is not null
      and c.id > ${after ?? '00000000-0000-0000-0000-000000000000'}
      and extract(isodow from t.local_now) = 1 and extract(hour from t.local_now) >= 8
      and exists (
        select 1 from usage_hours h
        where h.customer_id = c.id and (h.charged_requests <> 0 or h.cost_billed_nano_brl <> 0)
          and h.hour_at > (w.monday - interval '7 days') at time zone c.timezone - interval '1 hour'
          and h.hour_at < w.monday at time zone c.timezone)
    order by c.id limit ${PAGE}`.execute(db)
  return rows
}

async function withoutQueued(db: Database, readers: readonly Reader[]): Promise<Reader[]> {
  const idOf = (reader: Reader): string => mailId(TEMPLATE, referenceOf(reader))
  const ids = readers.map(idOf)
  const { rows } = await sql<{ id: string }>`
    select id from mails where id = any(${ids})
    union all select id from notifications where id = any(${ids})`.execute(db)
  const queued = new Set(rows.map(({ id }) => id))
  return readers.filter((reader) => !queued.has(idOf(reader)))
}

async function summarizeWeek(db: Database, reader: Reader): Promise<MailData> {
  const { rows } = await sql<SumsRow & { model_id: string }>`
    select u.model_id, ${sumColumns} from usage_between(${reader.id}, ${reader.from}, ${reader.to}) u
    group by u.model_id order by u.model_id`.execute(db)
  const models = rows.map((row) => ({ id: row.model_id, ...toSums(row) })).sort(byCost)
  const sums = addUp(models)
  const balance = (await findAccount(db, reader.id))?.balanceNanoBrl ?? 0n
  return {
    from: reader.first_day,
    to: reader.last_day,
    spent_brl: decimalBrl(sums.costBilledNanoBrl),
    requests: sums.requests,
    top_models: models.slice(0, MODELS_MAX).map((model) => ({
      id: model.id,
      spent_brl: decimalBrl(model.costBilledNanoBrl),
      requests: model.requests,
    })),
    balance_brl: decimalBrl(balance),
    runway_days: estimateRunway(balance, sums.costBilledNanoBrl, WEEK_DAYS).runwayDays,
  }
}
