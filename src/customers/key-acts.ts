/**
 * The acts of creating, changing and revoking an API key: each writes its row of the audit log and, if the customer is
 * notified, its event. `api-keys.ts` changes the keys themselves.
 */
import { sql } from 'kysely'
import { audited, type Actor, type RecordAct } from '../platform/audit-log/audited.ts'
import { isOwnAccount } from '../platform/audit-log/is-own-account.ts'
import type { Database } from '../platform/db/open.ts'
import { recordEvent } from '../platform/events/record-event.ts'
import type { PauseReason } from '../platform/db/tables.ts'
import { sha256 } from '../platform/lib/ids.ts'
import {
  createApiKey,
  findApiKey,
  revokeApiKey,
  type ApiKey,
  type ApiKeyInput,
  API_KEY_CHANNEL,
} from './api-keys.ts'
import { findApiKeyDetails } from './api-key-details.ts'
import { changeApiKey, type ApiKeyChange, type ApiKeyChanged } from './change-api-key.ts'
import {
  findChangeRefusal,
  findNewKeyRefusal,
  findResumeRefusal,
  type KeyRefusal,
} from './key-makers.ts'
import { defaultScope } from './key-scopes.ts'
import { pauseByOperator, pauseKeys, resumeByOperator, resumeKeys } from './pause-keys.ts'

/** The data of a key in mails and webhooks. */
export interface KeyFacts {
  readonly id: string
  /** The customer who pays. */
  readonly customerId: string
  readonly name: string
  readonly lastFour: string
}

export type KeyCreated = { readonly kind: 'created'; key: ApiKey; secret: string } | KeyRefusal

/** Returns the secret, which is not stored and cannot be read again. */
export function createKey(db: Database, actor: Actor, input: ApiKeyInput): Promise<KeyCreated> {
  return audited(db, actor, async (trx, record) => {
    const scope = input.scope ?? defaultScope(input)
    const { customerId, modelIds, ipAllowlist, requestsPerMinute, tokensPerMinute } = input
    const { expiresAt, shield } = input
    const wanted = {
      scope,
      modelIds: modelIds ?? null,
      ipAllowlist: ipAllowlist ?? null,
      requestsPerMinute,
      tokensPerMinute: tokensPerMinute ?? null,
      taskLimitNanoBrl: input.taskLimitNanoBrl ?? null,
      callsAtOnce: input.callsAtOnce ?? null,
      expiresAt: expiresAt ?? null,
      shield: shield ?? null,
    }
    const refusal = await findNewKeyRefusal(trx, { actor, customerId, wanted })
    if (refusal) return refusal
    const made = await createApiKey(trx, { ...input, scope })
    const limits = await readLimits(trx, made.key.id)
    await record({ ...keyAct('created', made.key), details: { scope, limits } })
    await recordEvent(trx, keyEvent('created', made.key))
    return { kind: 'created', ...made }
  })
}

/** Changes a key and records it. `fields` are the names of the changed fields, as the caller's interface calls them. */
export function changeKey(
  db: Database,
  actor: Actor,
  {
    customerId,
    keyId,
    change,
    fields,
  }: { customerId: string; keyId: string; change: ApiKeyChange; fields: readonly string[] },
): Promise<ApiKeyChanged> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await changeApiKey(trx, customerId, keyId, change, (locked, before, after) =>
      findChangeRefusal(locked, { actor, before, after }),
    )
    const { scope } = change
    if (outcome.kind === 'changed')
      await record({
        ...keyAct('changed', outcome.key),
        details: {
          fields,
          ...(scope === undefined ? {} : { scope }),
          limits: await readLimits(trx, keyId),
        },
      })
    return outcome
  })
}

/** Returns the limits of a key or a team, for the record of the act that set them: the audit proves the rows by it. */
export async function readLimits(trx: Database, id: string): Promise<object> {
  const { rows } = await sql<{ limits: object }>`select limits_of(${id}) as limits`.execute(trx)
  return (rows[0] as { limits: object }).limits
}

/**
 * Revokes a key and records it. With a `customerId`, only a key of this customer is found. A key that was revoked
 * before stays unchanged.
 */
export function revokeKey(
  db: Database,
  actor: Actor,
  { keyId, customerId }: { keyId: string; customerId?: string | undefined },
): ReturnType<typeof revokeApiKey> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await revokeApiKey(trx, keyId, customerId)
    const key = outcome === 'revoked' && (await findApiKeyDetails(trx, customerId, keyId))
    if (key) await recordRevokedKeys(trx, record, [key])
    return outcome
  })
}

/**
 * Pauses a key for its owner. A key that is revoked already, or paused for this or a stronger reason, stays unchanged.
 * Returns false for a key that is not the customer's.
 */
export function pauseKey(
  db: Database,
  actor: Actor,
  wanted: { readonly customerId: string; readonly keyId: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    if (!(await findApiKeyDetails(trx, wanted.customerId, wanted.keyId))) return false
    await recordPausedKeys(trx, record, await pauseKeys(trx, wanted, 'owner'), 'owner')
    return true
  })
}

/** Pauses the key with this secret, if there is one, and notifies its owner, also if the owner had paused it. */
export function pauseLeakedKey(db: Database, actor: Actor, secret: string): Promise<void> {
  return audited(db, actor, async (trx, record) => {
    const key = await findApiKey(trx, { secretHash: sha256(secret) })
    if (!key) return
    const paused = await pauseKeys(trx, { keyId: key.id }, 'leaked')
    await recordPausedKeys(trx, record, paused, 'leaked')
  })
}

export type KeyResumed =
  | 'resumed'
  | 'not_paused'
  | 'paused_by_operator'
  | 'key_not_found'
  | KeyRefusal

/** A key that an operator paused stays paused. */
export function resumeKey(
  db: Database,
  actor: Actor,
  wanted: { readonly customerId: string; readonly keyId: string },
): Promise<KeyResumed> {
  return audited(db, actor, async (trx, record) => {
    const found = await findApiKeyDetails(trx, wanted.customerId, wanted.keyId)
    if (!found) return 'key_not_found'
    const refusal = await findResumeRefusal(trx, { actor, paused: found })
    if (refusal) return refusal
    const [key] = await resumeKeys(trx, wanted)
    if (!key) return found.pausedReason === 'operator' ? 'paused_by_operator' : 'not_paused'
    await record(keyAct('resumed', key))
    await recordEvent(trx, keyEvent('resumed', key))
    return 'resumed'
  })
}

export type PausedByOperator = 'paused' | 'already_paused' | 'key_not_found' | 'own_account'

/** Pauses any customer's key, above a pause of its owner's. Without effect on a revoked key. */
export function pauseKeyByOperator(
  db: Database,
  actor: Actor,
  { keyId }: { readonly keyId: string },
): Promise<PausedByOperator> {
  return audited(db, actor, async (trx, record) => {
    const fault = await findOperatorFault(trx, actor, keyId)
    if (fault) return fault
    const paused = await pauseByOperator(trx, { keyId })
    await recordPausedKeys(trx, record, paused, 'operator')
    return paused.length > 0 ? 'paused' : 'already_paused'
  })
}

export type ResumedByOperator =
  | 'resumed'
  | 'still_paused'
  | 'not_paused_by_operator'
  | 'key_not_found'
  | 'own_account'

/** Lifts an operator's pause. `still_paused` means that a pause of the owner's remains, which the owner lifts. */
export function resumeKeyByOperator(
  db: Database,
  actor: Actor,
  { keyId }: { readonly keyId: string },
): Promise<ResumedByOperator> {
  return audited(db, actor, async (trx, record) => {
    const fault = await findOperatorFault(trx, actor, keyId)
    if (fault) return fault
    const [key] = await resumeByOperator(trx, { keyId })
    if (!key) return 'not_paused_by_operator'
    const { pausedReason } = key
    await record({
      ...keyAct('resumed', key),
      ...(pausedReason === null ? {} : { details: { still_paused: pausedReason } }),
    })
    if (pausedReason !== null) return 'still_paused'
    await recordEvent(trx, keyEvent('resumed', key))
    return 'resumed'
  })
}

async function findOperatorFault(
  trx: Database,
  { customerId: operatorId }: Actor,
  keyId: string,
): Promise<'key_not_found' | 'own_account' | undefined> {
  const key = await findApiKeyDetails(trx, undefined, keyId)
  if (!key) return 'key_not_found'
  const isOwn = await isOwnAccount(trx, { operatorId, customerId: key.customerId })
  return isOwn ? 'own_account' : undefined
}

export async function recordPausedKeys(
  trx: Database,
  record: RecordAct,
  keys: readonly KeyFacts[],
  reason: PauseReason,
  /** For the owner. */
  facts: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const key of keys) {
    await record({ ...keyAct('paused', key), details: { reason } })
    const event = keyEvent('paused', key)
    await recordEvent(trx, { ...event, data: { ...event.data, reason, ...facts } })
  }
}

/** Records keys that were revoked along with something else, such as a membership, a team or a user. */
export async function recordRevokedKeys(
  trx: Database,
  record: RecordAct,
  keys: readonly KeyFacts[],
  details?: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const key of keys) {
    await record({ ...keyAct('revoked', key), ...(details ? { details } : {}) })
    await recordEvent(trx, keyEvent('revoked', key))
  }
}

/** A key's name is its customer's own text, so it stays out of the audit log. */
function keyAct(
  verb: 'created' | 'changed' | 'revoked' | 'paused' | 'resumed',
  { id, customerId }: Pick<KeyFacts, 'id' | 'customerId'>,
): { action: `api_key.${string}`; customerId: string; subjectId: string } {
  return { action: `api_key.${verb}`, customerId, subjectId: id }
}

function keyEvent<Verb extends 'created' | 'revoked' | 'paused' | 'resumed'>(
  verb: Verb,
  { id, customerId, name, lastFour }: KeyFacts,
): { customerId: string; type: `key.${Verb}`; data: Readonly<Record<string, string>> } {
  return { customerId, type: `key.${verb}`, data: { id, name, last_four: lastFour } }
}

/** Revokes the customer's keys and those that they created for other customers' teams, on all nodes. Returns them. */
export async function revokeKeysOf(db: Database, customerId: string): Promise<KeyFacts[]> {
  const { rows } = await sql<KeyFacts>`
    with revoked as (
      update api_keys set revoked_at = now(), version = version + 1
      where (customer_id = ${customerId} or created_by = ${customerId}) and revoked_at is null
      returning id, customer_id, name, last_four
    )
    select id, customer_id as "customerId", name, last_four as "lastFour",
      pg_notify(${API_KEY_CHANNEL}, id::text)
    from revoked`.execute(db)
  return rows
}
