import type { Verdict, VerdictKind } from '../attempt.ts'

/** Parses a verdict that the SQL function `verdict_text` wrote; `VERDICT_FIELDS` lists its fields in order. */
export function readVerdict(text: string, atMs: number): Verdict {
  const [kind, keySequence, ipSequence, balance, held, budgetLeft, teamLeft, ...cap] =
    text.split(',')
  const [capLeft, capLimit, capUntil] = cap
  return {
    kind: kind as VerdictKind,
    keySequence: keySequence ? Number(keySequence) : null,
    ipSequence: ipSequence ? Number(ipSequence) : null,
    balanceNanoBrl: amountOf(balance),
    heldNanoBrl: amountOf(held),
    budgetLeftPicoUsd: amountOf(budgetLeft),
    teamLeftNanoBrl: amountOf(teamLeft),
    cap: capLeft
      ? {
          leftNanoBrl: BigInt(capLeft),
          limitNanoBrl: BigInt(capLimit as string),
          until: capUntil ? new Date(Number(capUntil)) : null,
        }
      : null,
    at: new Date(atMs),
  }
}

function amountOf(text: string | undefined): bigint | null {
  return text ? BigInt(text) : null
}
