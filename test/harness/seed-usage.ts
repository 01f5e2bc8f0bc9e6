/**
 * Usage as if it had happened at times of the test's choosing: holds that are closed by the ledger's own
 * statement, so that events, roll-ups, sessions and the account agree, and `audit` finds nothing.
 */
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { chargeFor, type NanoBrl, type PicoUsd } from '../../src/platform/lib/money.ts'

export interface SeededUse {
  /** Text if microseconds matter: `2026-01-31T02:59:59.999999Z`. */
  readonly at: Date | string
  readonly modelId: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens?: number
  readonly reasoningTokens?: number
  /** Default: the cost of the tokens, if `billed` is not given either. */
  readonly costPicoUsd?: PicoUsd
  /** In nano-BRL: 1/100 of the cost in pico-USD, rounded half up. */
  readonly billed?: NanoBrl
  readonly sessionId?: string | null
  readonly teamId?: string | null
  readonly apiKeyId?: string
  readonly outcome?: 'charged' | 'released'
  readonly usageKind?: 'exact' | 'estimated' | 'none'
}

export interface SeededEvent {
  readonly id: string
  readonly requestId: string
  readonly costPicoUsd: PicoUsd
  readonly billed: NanoBrl
}

/** BRL 5 per USD and a markup of 2. */
export const SEED_CONVERSION = { fxRateE4: 50_000n, markupE4: 20_000n }
export const SEED_FX_DATE = '2026-01-02'
export const SEED_FX_SOURCE = 'ptax'
const INPUT_PICO_USD = 150_000n
const OUTPUT_PICO_USD = 600_000n
/** As many holds are closed by one statement. */
const BATCH = 2_000

/** The customer needs the balance for it: `audit` reports a charge beyond the balance as a breach. */
export async function seedUsage(
  db: Database,
  input: { customerId: string; apiKeyId: string; events: readonly SeededUse[] },
): Promise<SeededEvent[]> {
  return inTransaction(db, async (trx) => {
    const fxRateId = await fxRate(trx)
    const rows = input.events.map((use) => rowOf(use, input.apiKeyId))
    const priceIds = await storePrices(trx, rows)
    for (let start = 0; start < rows.length; start += BATCH) {
      const batch = rows
        .slice(start, start + BATCH)
        .map((row) => ({ ...row, price_id: priceIds.get(row.digest) }))
      await settle(trx, input.customerId, fxRateId, JSON.stringify(batch))
    }
    return rows.map((row) => ({
      id: row.id,
      requestId: row.request_id,
      costPicoUsd: BigInt(row.cost_pico_usd),
      billed: BigInt(row.billed_nano_brl),
    }))
  })
}

type Row = ReturnType<typeof rowOf>

function rowOf(use: SeededUse, apiKeyId: string) {
  const isCharged = use.outcome !== 'released'
  const fixed = use.costPicoUsd ?? (use.billed === undefined ? undefined : use.billed * 100n)
  const tokens =
    BigInt(use.promptTokens) * INPUT_PICO_USD + BigInt(use.completionTokens) * OUTPUT_PICO_USD
  const cost = isCharged ? (fixed ?? tokens) : 0n
  const billed = chargeFor(cost, SEED_CONVERSION)
  if (isCharged && use.billed !== undefined) assert.equal(billed, use.billed)
  // A given cost is the price of one unit, beside tokens that cost nothing.
  const unitCost = isCharged ? fixed : undefined
  return {
    id: createId(),
    api_key_id: use.apiKeyId ?? apiKeyId,
    team_id: use.teamId ?? null,
    request_id: createId(),
    session_id: use.sessionId ?? null,
    model_id: use.modelId,
    created_at: use.at,
    outcome: isCharged ? 'charged' : 'released',
    usage_kind: use.usageKind ?? (isCharged ? 'exact' : 'none'),
    prompt_tokens: isCharged ? use.promptTokens : 0,
    cached_tokens: isCharged ? (use.cachedTokens ?? 0) : 0,
    completion_tokens: isCharged ? use.completionTokens : 0,
    reasoning_tokens: isCharged ? (use.reasoningTokens ?? 0) : 0,
    cost_pico_usd: cost.toString(),
    billed_nano_brl: billed.toString(),
    units: unitCost === undefined ? null : { seeded: 1 },
    unit_cost: unitCost?.toString() ?? null,
    digest: `seed ${use.modelId} ${unitCost ?? 'by tokens'}`,
  }
}

async function fxRate(trx: Database): Promise<number> {
  const found = await trx
    .selectFrom('fx_rates')
    .select('id')
    .where('source', '=', SEED_FX_SOURCE)
    .where('rate_date', '=', SEED_FX_DATE)
    .where('rate_e4', '=', Number(SEED_CONVERSION.fxRateE4))
    .executeTakeFirst()
  if (found) return found.id
  const made = await trx
    .insertInto('fx_rates')
    .values({
      rate_e4: Number(SEED_CONVERSION.fxRateE4),
      rate_date: SEED_FX_DATE,
      bulletin_at: null,
      source: SEED_FX_SOURCE,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return made.id
}

async function storePrices(trx: Database, rows: readonly Row[]): Promise<Map<string, number>> {
  const wanted = new Map(rows.map((row) => [row.digest, row]))
  const prices = [...wanted.values()].map((row) => {
    const [input, output] = row.unit_cost === null ? [INPUT_PICO_USD, OUTPUT_PICO_USD] : [0n, 0n]
    const tier = {
      above_prompt_tokens: 0,
      input: `${input}`,
      cached_input: `${input}`,
      cache_write: `${input}`,
      output: `${output}`,
      reasoning: `${output}`,
    }
    return {
      digest: row.digest,
      model_id: row.model_id,
      tiers: [tier],
      units: row.unit_cost === null ? null : { seeded: row.unit_cost },
    }
  })
  const { rows: stored } = await sql<{ id: number; digest: string }>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(prices)}::jsonb)
        as given(digest text, model_id text, tiers jsonb, units jsonb)
    ), made as (
      insert into prices (digest, model_id, tiers, units) select * from given
      on conflict do nothing returning id, digest
    )
    select id, digest from made
    union select id, digest from prices join given using (digest)`.execute(trx)
  return new Map(stored.map(({ id, digest }) => [digest, id]))
}

/** Held and resolved in one transaction: nobody sees the holds. */
async function settle(
  trx: Database,
  customerId: string,
  fxRateId: number,
  rows: string,
): Promise<void> {
  await sql`
    insert into holds (
      id, customer_id, api_key_id, team_id, node_id, request_id, session_id, model_id, is_stream, amount_nano_brl,
      budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4, prompt_tokens_estimated, created_at)
    select id, ${customerId}, api_key_id, team_id, ${createId()}, request_id, session_id, model_id, false, billed_nano_brl,
      0, price_id, ${fxRateId}, ${Number(SEED_CONVERSION.fxRateE4)}, ${Number(SEED_CONVERSION.markupE4)}, prompt_tokens,
      created_at
    from jsonb_to_recordset(${rows}::jsonb) as given(
      id uuid, api_key_id uuid, team_id uuid, request_id uuid, session_id text, model_id text, billed_nano_brl int8,
      price_id int4, prompt_tokens int4, created_at timestamptz)`.execute(trx)
  await sql`
    update accounts set held_nano_brl = held_nano_brl + (
      select coalesce(sum(billed_nano_brl), 0) from jsonb_to_recordset(${rows}::jsonb) as given(billed_nano_brl int8))
    where customer_id = ${customerId}`.execute(trx)
  await sql`
    update team_budgets t set held_nano_brl = held_nano_brl + given.billed
    from (
      select team_id, sum(billed_nano_brl)::int8 as billed
      from jsonb_to_recordset(${rows}::jsonb) as given(team_id uuid, billed_nano_brl int8)
      where team_id is not null group by 1
    ) given where given.team_id = t.team_id`.execute(trx)
  const { rows: results } = await sql<{ words: string }>`
    select words from resolve_holds(array(
      select (
        id, outcome, null, 'seed', usage_kind, prompt_tokens, cached_tokens, 0, completion_tokens, reasoning_tokens,
        cost_pico_usd, billed_nano_brl, 0, 1, 2, null, units, null, ${customerId}, false)::ledger_resolution
      from jsonb_to_recordset(${rows}::jsonb) as given(
        id uuid, outcome call_outcome, usage_kind usage_kind, prompt_tokens int4, cached_tokens int4,
        completion_tokens int4, reasoning_tokens int4, cost_pico_usd int8, billed_nano_brl int8, units jsonb)
    ))`.execute(trx)
  assert.equal(results[0]?.words, '', 'every hold was closed')
}
