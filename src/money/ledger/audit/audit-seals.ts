/**
 * Seals time whose settlements are complete: proves each event of a slice of time, stores the sums of the slice, and a
 * hash over its events that also covers the previous seal. From then on the audit reads the sums. A tree over the
 * events gives the root from which customers can prove single charges to others (`public-bills`).
 *
 * Invariant: no event with a `settled_at` in a sealed slice is committed afterwards. A settlement reads that time under
 * a lock of its account, so its transaction is visibly a writing one: a slice ends before the oldest running writer, and
 * at least a minute ago, in case the clock of the database is set back a little. If it is set back further, the late
 * event is in no seal, and the audit reports that the charges are not the sum of the events.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import { touchedSessions } from './audit-balance-checks.ts'
import { correctionChecks, eventChecks, type Checks } from './audit-event-checks.ts'
import { SUMMED, SUMMED_FOR_BUDGETS } from './audit-scope.ts'
import { growMerkleTree } from './merkle-tree.ts'
import { readChargeLeaves } from './read-charge-leaves.ts'

/** The reasons of debits that may exceed the balance. */
const OVERDRAWING = sql`('chargeback', 'top_up_returned')`

/**
 * Returns the checks of debts: an account is below zero by exactly the sum of its recorded changes, and each growth has
 * a cause of the same size. So one overrun excuses its own amount and nothing else. `debts` are the rows of
 * `account_debts` to check, as a table or a query in brackets.
 */
function debtChecks(debts: RawBuilder<unknown>): Checks {
  return {
    'every debt has a cause, and repayments alone are negative': sql`
      select d.id, d.customer_id, d.cause, d.amount_nano_brl from ${debts} d
      where (d.amount_nano_brl < 0) <> (d.cause = 'repaid')`,
    'a debt by overruns is at most the cost of its calls above their holds': sql`
      select d.id, d.customer_id, d.amount_nano_brl, d.hold_ids from ${debts} d
      where d.cause = 'overrun' and (
        d.amount_nano_brl > coalesce((
          select sum(e.cost_billed_nano_brl - e.held_nano_brl) from usage_events e
          where e.id = any (d.hold_ids) and e.customer_id = d.customer_id and e.corrects_id is null
            and e.cost_billed_nano_brl > e.held_nano_brl), 0)
        -- A call overruns its hold once.
        or exists (
          select from account_debts o
          where o.customer_id = d.customer_id and o.id <> d.id and o.cause = 'overrun' and o.hold_ids && d.hold_ids))`,
    'a debt by a correction is at most the increase of the charge': sql`
      select d.id, d.customer_id, d.amount_nano_brl, d.hold_ids from ${debts} d
      left join charge_corrections c on c.hold_id = d.hold_ids[1] and c.customer_id = d.customer_id
      where d.cause = 'correction' and (
        cardinality(d.hold_ids) is distinct from 1 or c.hold_id is null
        -- The reversal may repay a debt that the true charge makes again.
        or greatest(0, c.billed_nano_brl - c.first_billed_nano_brl) < (
          select sum(o.amount_nano_brl) from account_debts o
          where o.customer_id = d.customer_id and o.hold_ids = d.hold_ids and (o.cause = 'correction' or (
            o.cause = 'repaid'
            and o.created_at >= (select min(e.settled_at) from usage_events e where e.corrects_id = c.hold_id)))))`,
    'a debt by a debit has a charge-back or returned top-up': sql`
      select d.id, d.customer_id, d.amount_nano_brl from ${debts} d
      where d.cause = 'debit' and (
        not exists (
          select from ledger_entries e
          where e.customer_id = d.customer_id and e.kind = 'debit' and e.reason in ${OVERDRAWING}
            and e.amount_nano_brl >= d.amount_nano_brl
            -- An entry has the time at which its transaction began.
            and e.created_at between d.created_at - interval '10 minutes' and d.created_at)
        or (select sum(o.amount_nano_brl) from account_debts o where o.customer_id = d.customer_id and o.cause = 'debit')
          > (select sum(e.amount_nano_brl) from ledger_entries e
            where e.customer_id = d.customer_id and e.kind = 'debit' and e.reason in ${OVERDRAWING}))`,
  }
}

export const SEAL_MARGIN_SECONDS = 60
/** The share of one core of the database; the rest is for calls. */
const SHARE = 0.1
/** The most events of a slice. */
export const EVENTS_MAX = 20_000
const BREACHES_MAX = 10
/** A slice never crosses the end of a day: a month that is detached is not in a seal with the next one. */
const SLICE_SECONDS_MAX = 86_400
/** A slice with too many events is halved, down to this length. */
const SLICE_SECONDS_MIN = 0.01

export interface SealOptions {
  /** The share of one core. */
  readonly share?: number
  readonly marginSeconds?: number
  readonly eventsMax?: number
  readonly isOver?: () => boolean
}

export interface Slice {
  readonly fromAt: string
  readonly toAt: string
}

/** Seals all complete time and returns the number of slices. Of several concurrent callers one seals; the others return. */
export async function sealUsage(db: Database, options: SealOptions = {}): Promise<number> {
  const share = options.share ?? SHARE
  const until = await completeUntil(db, options.marginSeconds ?? SEAL_MARGIN_SECONDS)
  let sealed = 0
  /** The estimated length of a slice with the most events allowed. */
  let seconds = SLICE_SECONDS_MAX
  while (!options.isOver?.()) {
    const startedMs = performance.now()
    const done = await db
      .transaction()
      .execute((trx) =>
        sealNext(trx, { seconds, until, eventsMax: options.eventsMax ?? EVENTS_MAX }),
      )
    if (!done) break
    sealed += 1
    seconds = Math.min(SLICE_SECONDS_MAX, done.seconds * 2)
    await sleep((performance.now() - startedMs) * (1 / share - 1))
  }
  return sealed
}

/** Seals the next slice. Returns undefined when nothing is left to seal, or another process is sealing. */
async function sealNext(
  trx: Database,
  limits: SliceLimits,
): Promise<{ seconds: number } | undefined> {
  await sql`set local statement_timeout = '60s'`.execute(trx)
  await planForSlices(trx)
  const { rows: locks } = await sql<{ is_mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('audit seals', 0)) as is_mine`.execute(trx)
  if (!locks[0]?.is_mine) return undefined
  const slice = await nextSlice(trx, limits)
  if (!slice) return undefined
  const breaches = await findBreaches(trx, sliceChecks(slice))
  const { rows: last } = await sql<{ number: bigint }>`
    select coalesce(max(number), 0) + 1 as number from audit_seals`.execute(trx)
  const number = (last[0] as { number: bigint }).number
  await sql`
    insert into audit_seals (number, from_at, to_at, events, rows_hash, sums_hash, breaches, hash, charges_root,
      charges_head)
    select ${number}, ${slice.fromAt}, ${slice.toAt}, (select count(*) from ${eventsOf(slice)} e),
      ${rowsHash(slice)}, '', ${JSON.stringify(breaches)}::jsonb, '', ${await chargesRoot(trx, slice)}, ''`.execute(
    trx,
  )
  await sql`
    insert into audit_seal_sums
    select ${number}, ${SUMMED}, ${SUMMED_FOR_BUDGETS}
    from ${eventsOf(slice)} e group by 2, 3, 4, 5, 6`.execute(trx)
  await sql`
    update audit_seals s
    set sums_hash = ${sumsHash(number)},
      charges_head = charges_head((select charges_head from audit_seals where number = s.number - 1), s)
    where number = ${number}`.execute(trx)
  await sql`
    update audit_seals s
    set hash = seal_hash((select hash from audit_seals where number = s.number - 1), s)
    where number = ${number}`.execute(trx)
  return { seconds: slice.seconds }
}

/** A slice is a small part of its tables, so no plan may scan a whole table for it. */
export async function planForSlices(trx: Database): Promise<void> {
  await sql`select set_config(name, 'off', true)
    from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) as name`.execute(
    trx,
  )
}

export function eventsOf({ fromAt, toAt }: Slice): RawBuilder<unknown> {
  return sql`(select * from usage_events
    where settled_at >= ${fromAt}::timestamptz and settled_at < ${toAt}::timestamptz)`
}

/** Returns the checks of a single slice. */
export function sliceChecks(slice: Slice): Checks {
  return {
    ...eventChecks(eventsOf(slice)),
    ...touchedSessions(eventsOf(slice)),
    ...debtChecks(createdIn('account_debts', slice)),
    ...correctionChecks(createdIn('charge_corrections', slice)),
  }
}

export async function findBreaches(
  db: Database,
  checks: Checks,
): Promise<Record<string, unknown[]>> {
  const breaches: Record<string, unknown[]> = {}
  for (const [name, query] of Object.entries(checks)) {
    const { rows } = await sql<{ breach: unknown }>`
      select to_jsonb(breaches) as breach from (${query}) breaches limit ${BREACHES_MAX}`.execute(
      db,
    )
    if (rows.length > 0) breaches[name] = rows.map(({ breach }) => breach)
  }
  return breaches
}

function createdIn(table: string, { fromAt, toAt }: Slice): RawBuilder<unknown> {
  return sql`(select * from ${sql.table(table)}
    where created_at >= ${fromAt}::timestamptz and created_at < ${toAt}::timestamptz)`
}

/**
 * Computes SHA-256 over the rows of a slice; the connection writes times in UTC. Session ids are left out: they are
 * erased. Columns that came later are added only where they are not zero, so that earlier seals keep their hashes.
 */
export function rowsHash(
  slice: Slice,
  events: RawBuilder<unknown> = eventsOf(slice),
): RawBuilder<unknown> {
  return sql`sha256(convert_to(concat_ws(E'\n',
    (select string_agg(row(
      e.id, e.customer_id, e.api_key_id, e.team_id, e.request_id, e.model_id, e.upstream_id, e.is_stream, e.outcome,
      e.reason, e.usage_kind, e.prompt_tokens, e.cached_tokens, e.cache_write_tokens, e.completion_tokens,
      e.reasoning_tokens, e.held_nano_brl, e.cost_upstream_pico_usd, e.cost_billed_nano_brl, e.price_id, e.fx_rate_id,
      e.fx_rate_e4, e.markup_e4, e.first_byte_ms, e.duration_ms, e.created_at, e.settled_at, e.units, e.attempts,
      e.corrects_id, e.in_budget, e.in_cap)::text || coalesce(nullif(e.in_caps, 0)::text, ''), E'\n' order by e.id, e.created_at) from ${events} e),
    (select string_agg(row(d.id, d.customer_id, d.amount_nano_brl, d.cause, d.hold_ids, d.created_at)::text, E'\n'
      order by d.id) from ${createdIn('account_debts', slice)} d),
    (select string_agg(row(c.hold_id, c.customer_id, c.first_outcome, c.first_billed_nano_brl, c.outcome,
      c.billed_nano_brl, c.reversal_event_id, c.event_id, c.created_at)::text, E'\n' order by c.hold_id)
      from ${createdIn('charge_corrections', slice)} c)), 'UTF8'))`
}

/** Returns the root of the tree over the events of a slice. */
export async function chargesRoot(
  db: Database,
  slice: Slice,
  events?: RawBuilder<unknown>,
): Promise<Buffer> {
  const leaves = await readChargeLeaves(db, slice, events)
  return (await growMerkleTree(leaves.map(({ leaf }) => leaf))).root
}

/** Computes SHA-256 over the rows of this seal in `audit_seal_sums`. */
export function sumsHash(number: bigint | RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select sha256(convert_to(coalesce(string_agg(row(
      m.customer_id, m.hour_at, m.api_key_id, m.model_id, m.team_id, m.charged, m.released, m.prompt_tokens,
      m.completion_tokens, m.cost_pico_usd, m.billed_nano_brl, m.budget_pico_usd, m.cap_nano_brl)::text
      || case when m.minute_cap_nano_brl = 0 and m.day_cap_nano_brl = 0 then ''
        else row(m.minute_cap_nano_brl, m.day_cap_nano_brl)::text end, E'\n'
      order by m.customer_id, m.hour_at, m.api_key_id, m.model_id collate "C", m.team_id), ''), 'UTF8'))
    from audit_seal_sums m where m.seal_number = ${number})`
}

/**
 * Returns the end of complete time: an event that is committed after this call has a later `settled_at`. The result
 * stays valid, so one reading serves a whole run.
 */
export async function completeUntil(db: Database, marginSeconds: number): Promise<string> {
  const { rows } = await sql<{ until: string }>`
    select least(
      now() - make_interval(secs => ${marginSeconds}),
      (select min(xact_start) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_xid is not null),
      (select min(prepared) from pg_prepared_xacts where database = current_database())
    )::text as until`.execute(db)
  return (rows[0] as { until: string }).until
}

interface SliceLimits {
  readonly seconds: number
  readonly until: string
  readonly eventsMax: number
}

/**
 * Returns the slice from the end of the last seal, to the end of its hour at most, and with as many events as a slice
 * may have.
 */
async function nextSlice(
  trx: Database,
  { until, eventsMax, ...limits }: SliceLimits,
): Promise<(Slice & { seconds: number }) | undefined> {
  const { rows } = await sql<{ from_at: string | null }>`
    select coalesce((select max(to_at) from audit_seals),
      (select date_trunc('hour', min(settled_at), 'UTC') from usage_events))::text as from_at`.execute(
    trx,
  )
  const fromAt = rows[0]?.from_at
  if (!fromAt) return undefined
  for (let { seconds } = limits; ;) {
    const { rows: found } = await sql<{ to_at: string; seconds: number }>`
      select to_at::text, extract(epoch from to_at - ${fromAt}::timestamptz)::float8 as seconds
      from least(
        ${fromAt}::timestamptz + make_interval(secs => ${seconds}),
        date_trunc('day', ${fromAt}::timestamptz, 'UTC') + interval '1 day', ${until}::timestamptz) as to_at
      where to_at > ${fromAt}::timestamptz`.execute(trx)
    const slice = found[0]
    if (!slice) return undefined
    const { rows: counts } = await sql<{ events: bigint }>`
      select count(*) as events from (
        select from ${eventsOf({ fromAt, toAt: slice.to_at })} e limit ${eventsMax + 1}) e`.execute(
      trx,
    )
    if ((counts[0]?.events ?? 0n) <= eventsMax || slice.seconds <= SLICE_SECONDS_MIN)
      return { fromAt, toAt: slice.to_at, seconds: slice.seconds }
    seconds = slice.seconds / 2
  }
}
