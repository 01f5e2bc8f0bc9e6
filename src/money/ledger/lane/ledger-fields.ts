/**
 * The order in which the ledger's SQL functions take their values and write their answers: `src/money/ledger/sql/types.sql`
 * and the parameters of `verdict_text` have the same names in the same order, and test/ledger/ledger-fields.test.ts
 * compares them.
 */
import { nearNetwork } from '../../../platform/lib/client-networks.ts'
import type { CompositeField } from '../../../platform/db/composite-text.ts'
import type { Attempt, CountOnly, Verdict } from '../attempt.ts'
import type { ResolutionRow, Resolved } from '../resolution.ts'

/**
 * Returns the subject of the rate window of an address: one machine has all addresses of its IPv6 /64. The subjects of
 * addresses sort, and so are locked, before those of keys.
 */
export function ipWindow(ip: string): string {
  return `i:${nearNetwork(ip)}`
}

export function keyWindow(keyId: string): string {
  return `k:${keyId}`
}

const PLACE_FIELDS = ['key_place', 'key_offset', 'ip_place', 'ip_offset'] as const

export const ATTEMPT_FIELDS = [
  'id',
  'is_repeated',
  'customer_id',
  'api_key_id',
  'key_version',
  ...PLACE_FIELDS,
  'requests_per_minute',
  'ip_requests_per_minute',
  'tokens_per_minute',
  'request_id',
  'session_id',
  'model_id',
  'is_stream',
  'amount_nano_brl',
  'budget_pico_usd',
  'price_id',
  'fx_rate_id',
  'fx_rate_e4',
  'markup_e4',
  'prompt_tokens_estimated',
  'tokens_counted',
  'task_limit_nano_brl',
] as const
export const CHECKPOINT_FIELDS = ['id', 'output_tokens_seen'] as const
export const RESOLUTION_FIELDS = [
  'id',
  'outcome',
  'reason',
  'upstream_id',
  'usage_kind',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_pico_usd',
  'billed_nano_brl',
  'billed_pico_usd',
  'first_byte_ms',
  'duration_ms',
  'answered_price_id',
  'units',
  'attempts',
  'customer_id',
  'is_final',
] as const satisfies (keyof ResolutionRow)[]
/** The fields of a verdict in an answer, separated by commas. */
export const VERDICT_FIELDS = [
  'verdict',
  'key_sequence',
  'ip_sequence',
  'balance',
  'held',
  'budget_left',
  'team_left',
  'cap_left',
  'cap_limit',
  'cap_until',
] as const

type Fields<Name extends string> = Readonly<Record<Name, CompositeField>>

/** Returns the values of a record in the order of `names`; a missing name becomes null. */
export function inOrder<Name extends string>(
  names: readonly Name[],
  fields: Partial<Fields<Name>>,
): CompositeField[] {
  return names.map((name) => fields[name])
}

/** An attempt without the places of its rate windows, which depend on the batch. */
export function attemptFields(
  attempt: Attempt,
): Fields<Exclude<(typeof ATTEMPT_FIELDS)[number], (typeof PLACE_FIELDS)[number]>> {
  const { key } = attempt
  return {
    id: attempt.id,
    is_repeated: attempt.isRepeated,
    customer_id: attempt.customerId,
    api_key_id: key.id,
    key_version: key.version,
    requests_per_minute: key.requestsPerMinute,
    ip_requests_per_minute: attempt.ipLimit,
    tokens_per_minute: key.tokensPerMinute,
    request_id: attempt.requestId,
    session_id: attempt.sessionId,
    model_id: attempt.modelId,
    is_stream: attempt.isStream,
    amount_nano_brl: attempt.amountNanoBrl,
    budget_pico_usd: attempt.budgetPicoUsd,
    price_id: attempt.priceId,
    fx_rate_id: attempt.fxRateId,
    fx_rate_e4: attempt.fxRateE4,
    markup_e4: attempt.markupE4,
    prompt_tokens_estimated: attempt.promptTokensEstimated,
    tokens_counted: attempt.tokensCounted,
    task_limit_nano_brl: attempt.taskLimitNanoBrl,
  }
}

export function checkpointFields(
  checkpoint: Checkpoint,
): Fields<(typeof CHECKPOINT_FIELDS)[number]> {
  return { id: checkpoint.id, output_tokens_seen: checkpoint.outputTokensSeen }
}

/** An entry of a lane's batch. */
export type LaneWork =
  | { kind: 'attempt'; attempt: Attempt }
  | { kind: 'count'; count: CountOnly }
  | { kind: 'resolve'; row: ResolutionRow }
  | { kind: 'checkpoint'; checkpoints: readonly Checkpoint[] }

/** A verdict for an attempt or a count; for checkpoints, the ones whose hold was found. */
export type LaneResult =
  | Verdict
  | Resolved
  | { readonly kind: 'written'; readonly checkpoints: readonly Checkpoint[] }

/** The progress of a running call: it was dispatched, and this much of its output was seen. */
export interface Checkpoint {
  readonly id: string
  readonly customerId: string
  readonly outputTokensSeen: number
}

/** Returns the customer whose account this work locks; undefined where it locks none. */
export function customerOf(work: LaneWork): string | undefined {
  if (work.kind === 'attempt') return work.attempt.customerId
  return work.kind === 'resolve' ? work.row.customer_id : undefined
}
