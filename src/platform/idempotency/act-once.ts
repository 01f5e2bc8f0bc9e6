/**
 * Carries out an act once for all requests of a caller with the same `Idempotency-Key`.
 *
 * `actOnce` is for acts that only write to the database: act and answer are one transaction, so neither exists without
 * the other. `actResumably` is for acts that call another service. It stores a claim with an id before the act, and the
 * answer after it; the act creates its row under that id. A process that ends in between leaves the claim, and the next
 * request with the key resumes the act: it looks for the row before it does anything.
 */
import { inTransaction, type Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'
import {
  deleteClaim,
  endClaim,
  findRecord,
  holdClaim,
  insertRecord,
  isFull,
  lockKey,
  renewClaim,
  storeAnswer,
  storeRefusal,
  type Claim,
  type IdempotencyKeys,
  type IdempotencyRecord,
  type IdempotentRequest,
  type StoredAnswer,
} from './idempotency-records.ts'

export interface IdempotencyDeps {
  readonly db: Database
  readonly keys: IdempotencyKeys
}

export type ActOutcome =
  /** `answer`: undefined if the act answered in another way, of which nothing is stored. */
  | { readonly kind: 'acted'; readonly answer: StoredAnswer | undefined }
  | { readonly kind: 'repeated'; readonly answer: StoredAnswer }
  | { readonly kind: 'in_use' }
  | { readonly kind: 'other_request' }
  | { readonly kind: 'too_many_keys' }

/** The longest that an act and the services that it calls may take; a claim without an answer ends then. */
const ACT_SECONDS_MAX = 120

/** An error of the act rolls everything back, and nothing is stored. */
export function actOnce(
  { db, keys }: IdempotencyDeps,
  request: IdempotentRequest,
  act: (trx: Database) => Promise<StoredAnswer | undefined>,
): Promise<ActOutcome> {
  return inTransaction(db, async (trx) => {
    const begun = await begin(trx, keys, request)
    if (begun.kind !== 'new') return begun.kind === 'unanswered' ? { kind: 'in_use' } : begun
    const answer = await act(trx)
    if (answer) await insertRecord(trx, keys, request, { id: createId(), answer })
    return { kind: 'acted', answer }
  })
}

/** The row that the act creates, under this id. */
export interface Subject {
  readonly id: string
  /** An earlier request may have created it. */
  readonly isResumed: boolean
  /**
   * Call it in the transaction that creates the row. False if another request has resumed or ended the act since: this
   * one was suspended for longer than its claim.
   */
  readonly isOwn: (trx: Database) => Promise<boolean>
}

/** What came of an act that threw: an answer, no effect, or unknown. */
export type ThrownOutcome = StoredAnswer | 'nothing_happened' | 'unknown'

export async function actResumably(
  { db, keys }: IdempotencyDeps,
  request: IdempotentRequest,
  act: (subject: Subject) => Promise<StoredAnswer | undefined>,
  outcomeOf: (thrown: unknown) => ThrownOutcome,
): Promise<ActOutcome> {
  const claimed = await inTransaction(db, (trx) => claim(trx, keys, request))
  if (claimed.kind !== 'claimed') return claimed
  const { own, isResumed } = claimed
  // A resumed request does not know whether an earlier one created the row: the record keeps its id for the next request.
  const endWithoutAnswer = isResumed ? endClaim : deleteClaim
  try {
    const answer = await act({ id: own.id, isResumed, isOwn: (trx) => holdClaim(trx, own) })
    if (answer) await storeAnswer(db, keys, request, { id: own.id, answer })
    else await endWithoutAnswer(db, own)
    return { kind: 'acted', answer }
  } catch (error) {
    const outcome = outcomeOf(error)
    if (outcome === 'nothing_happened') await endWithoutAnswer(db, own)
    else if (outcome === 'unknown') await endClaim(db, own)
    else await storeRefusal(db, keys, request, { own, answer: outcome })
    throw error
  }
}

type Begun =
  | { readonly kind: 'new' }
  | { readonly kind: 'unanswered'; readonly record: IdempotencyRecord }
  | Exclude<ActOutcome, { kind: 'acted' }>

async function begin(
  trx: Database,
  keys: IdempotencyKeys,
  request: IdempotentRequest,
): Promise<Begun> {
  if (!(await lockKey(trx, request))) return { kind: 'in_use' }
  const record = await findRecord(trx, keys, request)
  if (!record) return (await isFull(trx, request)) ? { kind: 'too_many_keys' } : { kind: 'new' }
  if (record.fingerprint !== request.fingerprint) return { kind: 'other_request' }
  if (record.answer) return { kind: 'repeated', answer: record.answer }
  return record.isRunning ? { kind: 'in_use' } : { kind: 'unanswered', record }
}

async function claim(
  trx: Database,
  keys: IdempotencyKeys,
  request: IdempotentRequest,
): Promise<
  Exclude<ActOutcome, { kind: 'acted' }> | { kind: 'claimed'; own: Claim; isResumed: boolean }
> {
  const begun = await begin(trx, keys, request)
  if (begun.kind === 'unanswered') {
    const { id } = begun.record
    const until = await renewClaim(trx, id, ACT_SECONDS_MAX)
    return { kind: 'claimed', own: { id, until }, isResumed: true }
  }
  if (begun.kind !== 'new') return begun
  const id = createId()
  const until = await insertRecord(trx, keys, request, { id, runsForSeconds: ACT_SECONDS_MAX })
  return { kind: 'claimed', own: { id, until }, isResumed: false }
}
