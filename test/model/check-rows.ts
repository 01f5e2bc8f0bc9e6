/**
 * The rules for the rows of a schedule's customers when it is over. They are checked twice: against the reference
 * ledger, whose states are all possible results of the answers; and by the promises themselves, from the rows and from what clients got.
 */
import { sql } from 'kysely'
import type { Prepared } from './prepared.ts'
import type { CustomerState, Pot } from './reference-ledger.ts'
import type { Run, RunCustomer } from './run-schedule.ts'
import { KEYS } from './steps.ts'
import { fromNanoBrl, fromPicoUsd } from './world.ts'

interface Rows {
  readonly account: Record<'credited' | 'debited' | 'charged' | 'held', string>
  readonly entries: Record<'credit' | 'debit', string | null>
  readonly holds: readonly { readonly id: string; readonly amount: string }[]
  readonly events: readonly Event[]
  readonly budgets: readonly {
    readonly key: string
    readonly held: string
    readonly spent: string
  }[]
  readonly cap: { readonly held: string; readonly spent: string }
  /** Null before its first hold. */
  readonly task: { readonly held: string; readonly spent: string } | null
  readonly hours: readonly {
    readonly key: string
    readonly billed: string
    readonly calls: string
  }[]
  readonly debt: string
  readonly corrections: readonly {
    readonly hold: string
    readonly outcome: 'charged' | 'released'
    readonly billed: string
  }[]
  readonly windows: readonly {
    readonly subject: string
    readonly minute: string
    readonly requests: string
  }[]
}

interface Event {
  readonly id: string
  readonly key: string
  readonly team: string | null
  readonly outcome: string
  readonly reason: string | null
  readonly billed: string
  /** The hold of the corrected outcome. */
  readonly corrects: string | null
}

/** Returns one line for each fault. */
export async function checkRows(prepared: Prepared, run: Run): Promise<string[]> {
  const rows = await readRows(
    prepared,
    run.customers.map(({ id }) => id),
  )
  return run.customers.flatMap((customer, index) => {
    const its = rows.get(customer.id) as Rows
    return [
      ...checkReference(run, customer, its),
      ...checkDelivered(run, index, its),
      ...checkSums(customer, its),
      ...checkHolds(run, its),
      ...checkWindows(customer, its),
    ].map((line) => `customer ${index}: ${line}`)
  })
}

/** The rows match a state that the answers allow. */
function checkReference(run: Run, customer: RunCustomer, rows: Rows): string[] {
  if (customer.history.isTooWide) return []
  const is = JSON.stringify(pictureOfRows(run, customer, rows))
  const allowed = new Set(customer.history.states.map((state) => JSON.stringify(picture(state))))
  if (allowed.has(is)) return []
  return [`the rows are\n  ${is}\nand could be\n  ${[...allowed].slice(0, 4).join('\n  ')}`]
}

/**
 * A delivered answer is charged exactly once; an undelivered one at most by its checkpoints, unless its
 * node died while it was settling.
 */
function checkDelivered(run: Run, index: number, rows: Rows): string[] {
  const faults: string[] = []
  for (const [number, call] of run.calls) {
    if (call.customer !== index) continue
    const billed = rows.events
      .filter(({ id, corrects }) => id === call.attempt.id || corrects === call.attempt.id)
      .reduce((sum, event) => sum + fromNanoBrl(event.billed), 0)
    const isKnown = call.isDurable || !call.node.isCrashed
    if (isKnown && call.delivered !== undefined && billed !== call.delivered)
      faults.push(`call ${number} delivered ${call.delivered} tokens and was charged ${billed}`)
    if (isKnown && call.delivered === undefined && billed > call.seen.sent)
      faults.push(`call ${number} delivered nothing and was charged ${billed}`)
  }
  return faults
}

function checkHolds({ calls }: Run, { holds }: Rows): string[] {
  return holds.map(({ id }) => {
    const [number, call] = [...calls].find(([, { attempt }]) => attempt.id === id) ?? []
    return `the hold of call ${number} (${call?.phase}) is open after a minute`
  })
}

/** Stored sums equal the sums of their rows; nothing is overspent, and nothing is left open. */
function checkSums({ keyIds }: RunCustomer, rows: Rows): string[] {
  const { account, entries, holds, events, budgets, cap, task, hours, debt, corrections } = rows
  const sum = (amounts: readonly string[]) =>
    amounts.reduce((total, one) => total + BigInt(one), 0n)
  const held = sum(holds.map(({ amount }) => amount))
  const charged = sum(events.map(({ billed }) => billed))
  const faults: string[] = []
  const same = (what: string, stored: bigint | string, counted: bigint | string | null) => {
    if (BigInt(stored) !== BigInt(counted ?? 0))
      faults.push(`${what}: ${stored}, its rows ${counted}`)
  }
  same('credited', account.credited, entries.credit)
  same('debited', account.debited, entries.debit)
  same('charged', account.charged, charged)
  same('held', account.held, held)
  const free = BigInt(account.credited) - BigInt(account.debited) - charged - held
  // Only a correction may overdraw the balance.
  if (free < 0n && corrections.length === 0)
    faults.push(`overspent by ${fromNanoBrl(-free)} tokens`)
  same('debt', debt, free < 0n ? -free : 0n)
  for (const name of KEYS) {
    const its = events.filter(({ key }) => key === keyIds[name])
    const hour = hours.find(({ key }) => key === keyIds[name])
    same(`roll-up of ${name}`, hour?.billed ?? '0', sum(its.map(({ billed }) => billed)))
    same(
      `calls of ${name}`,
      hour?.calls ?? '0',
      BigInt(its.reduce((calls, { reason }) => calls + (reason === 'reversal' ? -1 : 1), 0)),
    )
    const budget = budgets.find(({ key }) => key === keyIds[name])
    if (budget) same(`budget of ${name}`, budget.spent, 200n * sum(its.map(({ billed }) => billed)))
  }
  same('cap', cap.spent, sum(events.filter(({ team }) => team).map(({ billed }) => billed)))
  const ofTask = events.filter(({ key }) => key === keyIds.task)
  same('task', task?.spent ?? '0', sum(ofTask.map(({ billed }) => billed)))
  return faults
}

/** No answered request is missing in its window, and windows of later minutes do not count it. */
function checkWindows({ keyIds, counted, minutes }: RunCustomer, rows: Rows): string[] {
  if (minutes.size > 1) return []
  return KEYS.flatMap((name) => {
    const window = rows.windows.find(({ subject }) => subject === `k:${keyIds[name]}`)
    if (window && !minutes.has(Number(window.minute))) return []
    const requests = Number(window?.requests ?? 0)
    return requests < counted[name]
      ? [`the window of ${name} counts ${requests} requests of ${counted[name]}`]
      : []
  })
}

/** The compared state; a refused call leaves no trace in it. */
function picture(state: CustomerState): unknown {
  const { credited, debited, charged, held, calls, budgets, cap, task } = state
  const pot = ({ held, spent }: Pot) => ({ held, spent })
  return {
    credited,
    debited,
    charged,
    held,
    calls: Object.entries(calls)
      .sort(([one], [other]) => Number(one) - Number(other))
      .map(([id, { status, billed, corrected }]) => [
        Number(id),
        status,
        billed,
        corrected && [corrected.status, corrected.billed],
      ]),
    budget: pot(budgets.budget),
    both: pot(budgets.both),
    cap: pot(cap),
    task: pot(task),
  }
}

function pictureOfRows(run: Run, { id, keyIds }: RunCustomer, rows: Rows): unknown {
  const { account, budgets, cap, task } = rows
  const pot = (name: 'budget' | 'both') => {
    const row = budgets.find(({ key }) => key === keyIds[name])
    return { held: fromPicoUsd(row?.held ?? 0), spent: fromPicoUsd(row?.spent ?? 0) }
  }
  const calls = [...run.calls]
    .filter(([, call]) => run.customers[call.customer]?.id === id)
    .sort(([one], [other]) => one - other)
    .flatMap(([number, { attempt }]) => {
      const hold = rows.holds.find((row) => row.id === attempt.id)
      const event = rows.events.find((row) => row.id === attempt.id)
      const correction = rows.corrections.find((row) => row.hold === attempt.id)
      const corrected = correction ? [correction.outcome, fromNanoBrl(correction.billed)] : null
      if (event) return [[number, event.outcome, fromNanoBrl(event.billed), corrected]]
      return hold ? [[number, 'held', 0, null]] : []
    })
  return {
    credited: fromNanoBrl(account.credited),
    debited: fromNanoBrl(account.debited),
    charged: fromNanoBrl(account.charged),
    held: fromNanoBrl(account.held),
    calls,
    budget: pot('budget'),
    both: pot('both'),
    cap: { held: fromNanoBrl(cap.held), spent: fromNanoBrl(cap.spent) },
    task: { held: fromNanoBrl(task?.held ?? 0), spent: fromNanoBrl(task?.spent ?? 0) },
  }
}

async function readRows(prepared: Prepared, ids: readonly string[]): Promise<Map<string, Rows>> {
  const statement = sql<{ id: string; rows: Rows }>`
    select c.id, jsonb_build_object(
      'account', (select jsonb_build_object('credited', credited_nano_brl::text, 'debited', debited_nano_brl::text,
        'charged', charged_nano_brl::text, 'held', held_nano_brl::text) from accounts where customer_id = c.id),
      'entries', (select jsonb_build_object(
        'credit', (sum(amount_nano_brl) filter (where kind = 'credit'))::text,
        'debit', (sum(amount_nano_brl) filter (where kind = 'debit'))::text)
        from ledger_entries where customer_id = c.id),
      'holds', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'amount', amount_nano_brl::text)), '[]')
        from holds where customer_id = c.id),
      'events', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'key', api_key_id, 'team', team_id,
        'outcome', outcome, 'reason', reason, 'billed', cost_billed_nano_brl::text, 'corrects', corrects_id)), '[]') from usage_events where customer_id = c.id),
      'budgets', (select jsonb_agg(jsonb_build_object('key', b.api_key_id, 'held', held_pico_usd::text,
        'spent', spent_pico_usd::text)) from api_key_budgets b join api_keys k on k.id = b.api_key_id
        where k.customer_id = c.id),
      'cap', (select jsonb_build_object('held', held_nano_brl::text, 'spent', spent_nano_brl::text)
        from team_budgets b join teams t on t.id = b.team_id where t.customer_id = c.id),
      'task', (select jsonb_build_object('held', held_nano_brl::text, 'spent', spent_nano_brl::text)
        from task_spends where customer_id = c.id),
      'hours', (select coalesce(jsonb_agg(jsonb_build_object('key', api_key_id, 'billed', billed, 'calls', calls)), '[]')
        from (select api_key_id, sum(cost_billed_nano_brl)::text as billed,
          sum(charged_requests + released_requests)::text as calls
          from usage_hours where customer_id = c.id group by 1) h),
      'windows', (select coalesce(jsonb_agg(jsonb_build_object('subject', subject,
        'minute', extract(epoch from window_at)::int8::text, 'requests', requests::text)), '[]')
        from rate_windows w join api_keys k on w.subject = 'k:' || k.id where k.customer_id = c.id),
      'debt', (select coalesce(sum(amount_nano_brl), 0)::text from account_debts where customer_id = c.id),
      'corrections', (select coalesce(jsonb_agg(jsonb_build_object('hold', hold_id, 'outcome', outcome,
        'billed', billed_nano_brl::text)), '[]') from charge_corrections where customer_id = c.id)
    ) as rows
    from unnest(${ids}::uuid[]) as c (id)`
  const rows = await prepared.run('read_rows', statement)
  return new Map(rows.map((row) => [row.id, row.rows]))
}
