import type { ShownBillBody } from './shown-bill.ts'

/** A charge as its text in the chain has it (`charge_text` in `ledger/sql/seals.sql`). */
export interface PublicCharge {
  readonly id: string
  readonly modelId: string
  readonly createdAt: Date
  readonly settledAt: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costPicoUsd: bigint
  readonly fxRateE4: bigint
  readonly markupE4: bigint
  readonly billedNanoBrl: bigint
  readonly correctsId: string | null
  readonly fxRateDate: string
  readonly fxSource: string
}

interface ChargeText {
  readonly id: string
  readonly model_id: string
  readonly created_at: string
  readonly settled_at: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_upstream_pico_usd: string
  readonly fx_rate_e4: number
  readonly markup_e4: number
  readonly cost_billed_nano_brl: string
  readonly corrects_id: string | null
}

export function readCharge(
  charge: Pick<ShownBillBody['charges'][number], 'text' | 'fx_rate_date' | 'fx_rate_source'>,
): PublicCharge {
  const text = JSON.parse(charge.text as string) as ChargeText
  return {
    id: text.id,
    modelId: text.model_id,
    createdAt: new Date(text.created_at),
    settledAt: text.settled_at,
    promptTokens: text.prompt_tokens,
    completionTokens: text.completion_tokens,
    costPicoUsd: BigInt(text.cost_upstream_pico_usd),
    fxRateE4: BigInt(text.fx_rate_e4),
    markupE4: BigInt(text.markup_e4),
    billedNanoBrl: BigInt(text.cost_billed_nano_brl),
    correctsId: text.corrects_id,
    fxRateDate: String(charge.fx_rate_date),
    fxSource: String(charge.fx_rate_source),
  }
}
