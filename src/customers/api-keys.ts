/**
 * API keys: made once, shown once, kept as a hash. Any change of a key makes it a new version and is
 * told to all nodes; a hold names the version it was admitted with, so a stale copy buys nothing.
 */
import { sql } from 'kysely'
import { inTransaction, type Database } from '../db/open.ts'
import type { BudgetPeriod } from '../db/tables.ts'
import { createId, isUuid, randomText, sha256 } from '../lib/ids.ts'
import type { PicoUsd } from '../lib/money.ts'

export const API_KEY_PREFIX = 'sk-svc-'
/** 32 letters and digits: 190 bits, beyond guessing, so that a plain SHA-256 protects it. */
const SECRET_LENGTH = 32
/** The channel on which changed keys are told, with the key's id. */
export const API_KEY_CHANNEL = 'api_keys'

export interface ApiKey {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly lastFour: string
  /** Null: every model of the catalog. */
  readonly modelIds: readonly string[] | null
  /** Addresses and CIDR blocks; null: any. */
  readonly ipAllowlist: readonly string[] | null
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number | null
  readonly version: number
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Of a team: it spends within the team's cap, and is for model calls only. */
  readonly teamId: string | null
  /** Who made it, where it was not the customer who pays. */
  readonly createdBy: string | null
  readonly createdAt: Date
}

export interface ApiKeyInput {
  readonly customerId: string
  readonly name: string
  readonly modelIds?: readonly string[] | undefined
  readonly ipAllowlist?: readonly string[] | undefined
  readonly requestsPerMinute: number
  readonly tokensPerMinute?: number | undefined
  readonly budget?: { readonly limitPicoUsd: PicoUsd; readonly period: BudgetPeriod } | undefined
  readonly expiresAt?: Date | undefined
  readonly teamId?: string | undefined
  /** Who makes it, where it is not the customer who pays. */
  readonly createdBy?: string | undefined
  /** Given only where the secret must outlive a restart, as the demo key's. */
  readonly secret?: string | undefined
}

/** The secret is in the answer and nowhere else, ever again. */
export async function createApiKey(
  db: Database,
  input: ApiKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = input.secret ?? API_KEY_PREFIX + randomText(SECRET_LENGTH)
  const key = await inTransaction(db, async (trx) => {
    const row = await trx
      .insertInto('api_keys')
      .values({
        id: createId(),
        customer_id: input.customerId,
        name: input.name,
        secret_hash: sha256(secret),
        last_four: secret.slice(-4),
        model_ids: input.modelIds ? [...input.modelIds] : null,
        ip_allowlist: input.ipAllowlist ? [...input.ipAllowlist] : null,
        requests_per_minute: input.requestsPerMinute,
        tokens_per_minute:
          input.tokensPerMinute === undefined ? null : BigInt(input.tokensPerMinute),
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
    return toApiKey(row)
  })
  return { key, secret }
}

/**
 * Revoking is for good. `already_inactive` where it was revoked before. Where a customer is given, only
 * keys of this one are found.
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
 * Whether a key may still act. While the transaction lasts it is not revoked: what the key makes until
 * then is there when whoever revokes it looks for it.
 */
export async function holdActiveKey(trx: Database, keyId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .where((column) =>
      column.or([column('expires_at', 'is', null), column('expires_at', '>', sql<Date>`now()`)]),
    )
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Of a customer, those that are not revoked. */
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

/** Those of the ids that are keys of the customer, revoked or not. */
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

export type FoundApiKey = ApiKey & { readonly isAccountSuspended: boolean }

/** By the hash of its secret, or as a key of its customer's. */
export async function findApiKey(
  db: Database,
  wanted: { readonly secretHash: Buffer } | { readonly customerId: string; readonly id: string },
): Promise<FoundApiKey | undefined> {
  const query = db
    .selectFrom('api_keys')
    .innerJoin('customers', 'customers.id', 'api_keys.customer_id')
    .selectAll('api_keys')
    .select('customers.suspended_at')
  const row = await (
    'secretHash' in wanted
      ? query.where('secret_hash', '=', wanted.secretHash)
      : query.where('customer_id', '=', wanted.customerId).where('api_keys.id', '=', wanted.id)
  ).executeTakeFirst()
  return row && { ...toApiKey(row), isAccountSuspended: row.suspended_at !== null }
}

export interface ApiKeyRow {
  id: string
  customer_id: string
  name: string
  last_four: string
  model_ids: string[] | null
  ip_allowlist: string[] | null
  requests_per_minute: number
  tokens_per_minute: bigint | null
  version: number
  expires_at: Date | null
  revoked_at: Date | null
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
    modelIds: row.model_ids,
    ipAllowlist: row.ip_allowlist,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute === null ? null : Number(row.tokens_per_minute),
    version: row.version,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    teamId: row.team_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }
}
