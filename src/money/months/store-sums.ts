/** The sums of a month's events that the audit and the margins need when its rows are gone. */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { withoutTimeout } from '../../platform/db/without-timeout.ts'
import { BILLED_PICO_USD } from '../ledger/audit/audit-event-checks.ts'
import { boundsOf, firstDay, type Month } from './month.ts'
import type { Attempt } from './write-files.ts'

/** Stores the sums of a month, day by day, so that no snapshot lives long. */
export async function storeSums(db: Database, { month, renew }: Attempt): Promise<void> {
  const store = (work: (trx: Database) => Promise<void>) =>
    withoutTimeout(db, async (trx) => {
      await renew(trx)
      await work(trx)
    })
  const { fromAt, toAt } = boundsOf(month)
  for (let ms = Date.parse(fromAt); ms < Date.parse(toAt); ms += 86_400_000) {
    const day = new Date(ms).toISOString()
    const events = sql`(select * from usage_events
      where settled_at >= ${day}::timestamptz and settled_at < ${day}::timestamptz + interval '24 hours')`
    await store(async (trx) => {
      await storeSessions(trx, month, events)
      await storeHours(trx, month, events)
    })
  }
  for (const spend of SPENDS) await store((trx) => storeSpend(trx, month, spend))
  await store((trx) => storeTasks(trx, month))
}

async function storeSessions(
  db: Database,
  month: Month,
  events: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into archived_sessions as a (month, customer_id, session_id, requests, prompt_tokens, completion_tokens,
      cost_billed_nano_brl, first_request_at, last_request_at)
    select ${firstDay(month)}::date, customer_id, session_id, sum(event_charges(outcome, reason)), sum(prompt_tokens),
      sum(completion_tokens), sum(cost_billed_nano_brl), min(created_at), max(created_at)
    from ${events} e where outcome = 'charged' and session_id is not null group by customer_id, session_id
    on conflict (customer_id, session_id, month) do update set
      requests = a.requests + excluded.requests,
      prompt_tokens = a.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = a.completion_tokens + excluded.completion_tokens,
      cost_billed_nano_brl = a.cost_billed_nano_brl + excluded.cost_billed_nano_brl,
      first_request_at = least(a.first_request_at, excluded.first_request_at),
      last_request_at = greatest(a.last_request_at, excluded.last_request_at)`.execute(db)
}

async function storeHours(db: Database, month: Month, events: RawBuilder<unknown>): Promise<void> {
  await sql`
    insert into archived_hours as a (month, hour_at, model_id, upstream_id, fx_rate_e4, requests, cost_pico_usd,
      billed_nano_brl)
    select ${firstDay(month)}::date, date_trunc('hour', created_at, 'UTC'), model_id, upstream_id, fx_rate_e4,
      sum(event_charges(outcome, reason)), sum(cost_upstream_pico_usd), sum(cost_billed_nano_brl)
    from ${events} e where outcome = 'charged' group by 2, 3, 4, 5
    on conflict (hour_at, model_id, upstream_id, fx_rate_e4, month) do update set
      requests = a.requests + excluded.requests,
      cost_pico_usd = a.cost_pico_usd + excluded.cost_pico_usd,
      billed_nano_brl = a.billed_nano_brl + excluded.billed_nano_brl`.execute(db)
}

interface Spend {
  readonly kind: string
  /** Rows with an `id` and the time `since` which its charges count. */
  readonly budgets: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly billed: RawBuilder<unknown>
  readonly counts: RawBuilder<unknown>
}

const SINCE = sql`greatest(period_started_at, spent_since) as since`
const SPENDS: readonly Spend[] = [
  {
    kind: 'key_budget',
    budgets: sql`select api_key_id as id, ${SINCE} from api_key_budgets`,
    id: sql`e.api_key_id`,
    billed: BILLED_PICO_USD,
    counts: sql`e.in_budget`,
  },
  {
    kind: 'team_cap',
    budgets: sql`select team_id as id, ${SINCE} from team_budgets`,
    id: sql`e.team_id`,
    billed: sql`e.cost_billed_nano_brl`,
    counts: sql`e.in_cap`,
  },
  ...(['minute', 'day'] as const).map((period, index) => ({
    kind: `${period}_cap`,
    budgets: sql`select api_key_id as id, ${SINCE} from key_caps where period = ${period}`,
    id: sql`e.api_key_id`,
    billed: sql`e.cost_billed_nano_brl`,
    counts: sql`e.in_caps & ${2 ** index}::int4 <> 0`,
  })),
]

/** From the beginning of a budget to the end of the seal in which it began: whole seals are counted by their sums. */
async function storeSpend(
  db: Database,
  month: Month,
  { kind, budgets, id, billed, counts }: Spend,
): Promise<void> {
  const { fromAt, toAt } = boundsOf(month)
  await sql`
    insert into archived_spends (month, kind, subject_id, since, amount)
    select ${firstDay(month)}::date, ${kind}, b.id, b.since, sum(${billed})
    from (${budgets}) b
    join audit_seals z on z.from_at < b.since and z.to_at > b.since
    join usage_events e on ${id} = b.id and ${counts} and e.settled_at >= b.since and e.settled_at < z.to_at
    where b.since >= ${fromAt}::timestamptz and b.since < ${toAt}::timestamptz
    group by b.id, b.since`.execute(db)
}

/** Tasks have no sums in seals, so all their charges of the month count. */
async function storeTasks(db: Database, month: Month): Promise<void> {
  const { fromAt, toAt } = boundsOf(month)
  await sql`
    insert into archived_spends (month, kind, subject_id, session_id, since, amount)
    select ${firstDay(month)}::date, 'task', t.api_key_id, t.session_id, t.spent_since, sum(e.cost_billed_nano_brl)
    from task_spends t
    join usage_events e on e.customer_id = t.customer_id and e.session_id = t.session_id collate "default"
      and e.api_key_id = t.api_key_id and e.in_caps & 4 <> 0
    where t.spent_since < ${toAt}::timestamptz and e.settled_at >= greatest(t.spent_since, ${fromAt}::timestamptz)
      and e.settled_at < ${toAt}::timestamptz
    group by 3, 4, 5`.execute(db)
}
