import type { NanoBrl } from './money.ts'

/** Returns the price of a thousand tokens, rounded half up to the nano-BRL; null without tokens. */
export function brlPer1kTokens(
  costNanoBrl: NanoBrl,
  used: { readonly promptTokens: number; readonly completionTokens: number },
): NanoBrl | null {
  const tokens = BigInt(used.promptTokens) + BigInt(used.completionTokens)
  return tokens === 0n ? null : (costNanoBrl * 2_000n + tokens) / (tokens * 2n)
}
