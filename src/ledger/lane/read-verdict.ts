import type { Verdict, VerdictKind } from '../attempt.ts'

/** From a verdict as the SQL function `verdict_text` writes it; `VERDICT_FIELDS` lists its fields in their order. */
export function readVerdict(text: string, atMs: number): Verdict {
  const [kind, keySequence, ipSequence, balance, held, budgetLeft, teamLeft] = text.split(',')
  return {
    kind: kind as VerdictKind,
    keySequence: keySequence ? Number(keySequence) : null,
    ipSequence: Number(ipSequence),
    balanceNanoBrl: amountOf(balance),
    heldNanoBrl: amountOf(held),
    budgetLeftPicoUsd: amountOf(budgetLeft),
    teamLeftNanoBrl: amountOf(teamLeft),
    at: new Date(atMs),
  }
}

function amountOf(text: string | undefined): bigint | null {
  return text ? BigInt(text) : null
}
