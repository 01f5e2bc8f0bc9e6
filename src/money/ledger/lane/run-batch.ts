/** Runs one batch of works over one connection. */
import { arrayText } from '../../../platform/db/composite-text.ts'
import { FUNCTIONS_SCHEMA } from '../../../platform/db/functions.ts'
import type { LaneConnection } from './lane-connection.ts'
import type { LaneResult, LaneWork } from './lane-work.ts'
import { layOutBatch } from './lay-out-batch.ts'
import { COMMITTED, readResolved, type Resolved } from '../resolution.ts'
import type { Verdict, VerdictKind } from '../attempt.ts'

const STATEMENT = {
  name: 'ledger_batch',
  // Qualified, because the sets of other releases have a function of this name, and the parameters are untyped.
  text: `select ${FUNCTIONS_SCHEMA}.ledger_batch($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

/**
 * The results in the order of the works; or, if nothing was done, the customers whose accounts are locked elsewhere.
 */
export type BatchOutcome =
  | { readonly kind: 'done'; readonly results: LaneResult[] }
  | { readonly kind: 'busy'; readonly customerIds: readonly string[] }

export async function runBatch(
  connection: LaneConnection,
  nodeId: string,
  works: readonly LaneWork[],
  { skipsLocked }: { readonly skipsLocked: boolean },
): Promise<BatchOutcome> {
  const batch = layOutBatch(works)
  const text = (await connection.run(STATEMENT, [
    nodeId,
    arrayText(batch.customerIds),
    orNull(batch.resolutions),
    orNull(batch.checkpoints),
    arrayText(batch.subjects),
    `{${batch.subjectRequests.join(',')}}`,
    orNull(batch.attempts),
    String(batch.commitsAsynchronously),
    String(skipsLocked),
  ])) as string
  if (text.startsWith('busy;')) return { kind: 'busy', customerIds: text.slice(5).split(',') }
  const [words, unwritten, at, ...verdicts] = text.split(';')
  const lost = new Set(unwritten ? unwritten.split(',').map(Number) : [])
  let checkpoint = 0
  const resolved = readWords(words as string)
  let place = 0
  const results = works.map((each): LaneResult => {
    if (each.kind === 'checkpoint') {
      const written = each.checkpoints.filter(() => !lost.has((checkpoint += 1)))
      return { kind: 'written', checkpoints: written }
    }
    if (each.kind === 'resolve') place += 1
    return (each.kind === 'resolve' && resolved?.get(place)) || COMMITTED
  })
  verdicts.forEach((verdict, index) => {
    results[batch.order[index] as number] = readVerdict(verdict, Number(at))
  })
  return { kind: 'done', results }
}

/** `<place>:<word>` with commas between, for the resolutions that found no hold. */
function readWords(text: string): ReadonlyMap<number, Resolved> | undefined {
  if (text === '') return undefined
  return new Map(
    text.split(',').map((line) => {
      const colon = line.indexOf(':')
      return [Number(line.slice(0, colon)), readResolved(line.slice(colon + 1))] as const
    }),
  )
}

function orNull(rows: readonly string[]): string | null {
  return rows.length === 0 ? null : arrayText(rows)
}

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
