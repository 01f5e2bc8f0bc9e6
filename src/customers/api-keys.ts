/**
 * API keys. A secret is shown once and stored as a hash. Every change increments the key's version and notifies all
 * nodes. A hold names the version that was admitted, so a node with a stale copy cannot hold money.
 */
import { sql } from 'kysely'
import { inTransaction, type Database } from '../platform/db/open.ts'
import type { BudgetPeriod, PauseReason } from '../platform/db/tables.ts'
import { createId, isUuid, sha256 } from '../platform/lib/ids.ts'
import type { NanoBrl, PicoUsd } from '../platform/lib/money.ts'
import type { ShieldSetting } from './shield-setting.ts'
import { defaultScope, type KeyScope } from './key-scopes.ts'
import { findCell } from './cell.ts'
import { createKeySecret } from './key-secret.ts'
import { putCap } from './put-cap.ts'

/** The NOTIFY channel for changed keys; the payload is the key's id. */
export const API_KEY_CHANNEL = 'api_keys'

export interface ApiKey {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly lastFour: string
  readonly scope: KeyScope
  /** Null: every model in the catalog. */
  readonly modelIds: readonly string[] | null
  /** Addresses and CIDR blocks; null: any. */
  readonly ipAllowlist: readonly string[] | null
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number | null
  /** The cap of each task, that is usage session; null: none. */
  readonly taskLimitNanoBrl: NanoBrl | null
  /** On each node; null: as many as the customer may have. */
  readonly callsAtOnce: number | null
  /** For how long an answer to its calls serves equal calls; null: not at all. */
  readonly cacheSeconds: number | null
  /** Its calls mark what an upstream may cache of their prompts. */
  readonly autoCache: boolean
  /** Null: the account's setting. */
  readonly shield: ShieldSetting | null
  readonly version: number
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Why the key is paused; null: it is not. */
  readonly pausedReason: PauseReason | null
  /** A team's key spends within the team's cap and can only call models. */
  readonly teamId: string | null
  /** The creator, if it is not the customer who pays. */
  readonly createdBy: string | null
  readonly createdAt: Date
}

export interface ApiKeyInput {
  readonly customerId: string
  readonly name: string
  /** Default: `defaultScope`. */
  readonly scope?: KeyScope | undefined
  readonly modelIds?: readonly string[] | undefined
  readonly ipAllowlist?: readonly string[] | undefined
  readonly requestsPerMinute: number
  readonly tokensPerMinute?: number | undefined
  /** Default: the account's setting. */
  readonly shield?: ShieldSetting | undefined
  readonly budget?: { readonly limitPicoUsd: PicoUsd; readonly period: BudgetPeriod } | undefined
  /** The caps of each minute, of each day and of each task. */
  readonly minuteLimitNanoBrl?: NanoBrl | undefined
  readonly dayLimitNanoBrl?: NanoBrl | undefined
  readonly taskLimitNanoBrl?: NanoBrl | undefined
  readonly callsAtOnce?: number | undefined
  readonly cacheSeconds?: number | undefined
  readonly autoCache?: boolean | undefined
  readonly expiresAt?: Date | undefined
  readonly teamId?: string | undefined
  /** The creator, if it is not the customer who pays. */
  readonly createdBy?: string | undefined
}

/** Returns the secret, which is not stored and cannot be read again. */
export async function createApiKey(
  db: Database,
  input: ApiKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = createKeySecret(await findCell(db))
  const key = await inTransaction(db, async (trx) => {
    const row = await trx
      .insertInto('api_keys')
      .values({
        id: createId(),
        customer_id: input.customerId,
        name: input.name,
        secret_hash: sha256(secret),
        last_four: secret.slice(-4),
        scope: input.scope ?? defaultScope(input),
        model_ids: input.modelIds ? [...input.modelIds] : null,
        ip_allowlist: input.ipAllowlist ? [...input.ipAllowlist] : null,
        requests_per_minute: input.requestsPerMinute,
        tokens_per_minute:
          input.tokensPerMinute === undefined ? null : BigInt(input.tokensPerMinute),
        task_limit_nano_brl: input.taskLimitNanoBrl ?? null,
        calls_at_once: input.callsAtOnce ?? null,
        cache_seconds: input.cacheSeconds ?? null,
        auto_cache: input.autoCache ?? false,
        shield_action: input.shield?.action ?? null,
        shield_uuids: input.shield?.uuids ?? null,
        expires_at: input.expiresAt ?? null,
        revoked_at: null,
        team_id: input.teamId ?? null,
        created_by: input.createdBy ?? null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    if (input.budget) {
      await sql`insert into api_key_budgets (api_key_id, period, timezone, limit_pico_usd)
        select ${row.id}, ${input.budget.period}, timezone, ${input.budget.limitPicoUsd}
        from customers where id = ${input.customerId}`.execute(trx)
    }
    const { minuteLimitNanoBrl, dayLimitNanoBrl } = input
    if (minuteLimitNanoBrl !== undefined) await putCap(trx, row.id, 'minute', minuteLimitNanoBrl)
    if (dayLimitNanoBrl !== undefined) await putCap(trx, row.id, 'day', dayLimitNanoBrl)
    return toApiKey(row)
  })
  return { key, secret }
}

/**
 * Revokes a key permanently. Returns `already_inactive` if it was revoked before. With a `customerId`, only keys of this
 * customer are found.
 */
export async function revokeApiKey(
  db: Database,
  keyId: string,
  customerId?: string,
): Promise<'revoked' | 'already_inactive' | 'key_not_found'> {
  if (!isUuid(keyId)) return 'key_not_found'
  const isIt =
    customerId === undefined
      ? sql<boolean>`id = ${keyId}`
      : sql<boolean>`id = ${keyId} and customer_id = ${customerId}`
  const { rows } = await sql<{ id: string }>`
    with revoked as (
      update api_keys set revoked_at = now(), version = version + 1
      where ${isIt} and revoked_at is null
      returning id
    )
    select id, pg_notify(${API_KEY_CHANNEL}, id::text) from revoked`.execute(db)
  if (rows.length > 0) return 'revoked'
  const known = await db.selectFrom('api_keys').select('id').where(isIt).executeTakeFirst()
  return known ? 'already_inactive' : 'key_not_found'
}

/**
 * Returns true if the key may still act, and prevents its revocation until the end of the transaction. A transaction
 * that revokes the key therefore sees everything that the key has created.
 */
export async function holdActiveKey(trx: Database, keyId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .where('paused_at', 'is', null)
    .where((column) =>
      column.or([column('expires_at', 'is', null), column('expires_at', '>', sql<Date>`now()`)]),
    )
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the ids of the customer's keys that are not revoked. */
export async function listUnrevokedKeyIds(db: Database, customerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Counts the keys that the customer ever had, with the revoked ones. */
export async function countKeysEver(db: Database, customerId: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Filters the ids by those of the customer's keys, revoked or not. */
export async function listOwnKeyIds(
  db: Database,
  customerId: string,
  keyIds: readonly string[],
): Promise<string[]> {
  if (keyIds.length === 0) return []
  const rows = await db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('id', 'in', keyIds)
    .execute()
  return rows.map(({ id }) => id)
}

export async function listApiKeys(db: Database, customerId?: string): Promise<ApiKey[]> {
  let query = db.selectFrom('api_keys').selectAll().orderBy('created_at')
  if (customerId !== undefined) query = query.where('customer_id', '=', customerId)
  return (await query.execute()).map(toApiKey)
}

export type FoundApiKey = ApiKey & {
  readonly isAccountSuspended: boolean
  readonly accountShield: ShieldSetting
  /** Days for which the account stores responses; null: it stores none. */
  readonly storedResponsesDays: number | null
}

/** Finds a key by the hash of its secret, or by its customer and id. */
export async function findApiKey(
  db: Database,
  wanted: { readonly secretHash: Buffer } | { readonly customerId: string; readonly id: string },
): Promise<FoundApiKey | undefined> {
  const query = db
    .selectFrom('api_keys')
    .innerJoin('customers', 'customers.id', 'api_keys.customer_id')
    .selectAll('api_keys')
    .select([
      'customers.suspended_at',
      'customers.shield_action as account_shield_action',
      'customers.shield_uuids as account_shield_uuids',
      'customers.stored_responses_days',
    ])
  const row = await (
    'secretHash' in wanted
      ? query.where('secret_hash', '=', wanted.secretHash)
      : query.where('customer_id', '=', wanted.customerId).where('api_keys.id', '=', wanted.id)
  ).executeTakeFirst()
  return (
    row && {
      ...toApiKey(row),
      isAccountSuspended: row.suspended_at !== null,
      accountShield: { action: row.account_shield_action, uuids: row.account_shield_uuids },
      storedResponsesDays: row.stored_responses_days,
    }
  )
}

export interface ApiKeyRow {
  id: string
  customer_id: string
  name: string
  last_four: string
  scope: KeyScope
  model_ids: string[] | null
  ip_allowlist: string[] | null
  requests_per_minute: number
  tokens_per_minute: bigint | null
  task_limit_nano_brl: bigint | null
  calls_at_once: number | null
  cache_seconds: number | null
  auto_cache: boolean
  shield_action: ShieldSetting['action'] | null
  shield_uuids: ShieldSetting['uuids'] | null
  version: number
  expires_at: Date | null
  revoked_at: Date | null
  paused_reason: PauseReason | null
  team_id: string | null
  created_by: string | null
  created_at: Date
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    customerId: row.customer_id,
    name: row.name,
    lastFour: row.last_four,
    scope: row.scope,
    modelIds: row.model_ids,
    ipAllowlist: row.ip_allowlist,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute === null ? null : Number(row.tokens_per_minute),
    taskLimitNanoBrl: row.task_limit_nano_brl,
    callsAtOnce: row.calls_at_once,
    cacheSeconds: row.cache_seconds,
    autoCache: row.auto_cache,
    shield:
      row.shield_action === null || row.shield_uuids === null
        ? null
        : { action: row.shield_action, uuids: row.shield_uuids },
    version: row.version,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    pausedReason: row.paused_reason,
    teamId: row.team_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }
}
