import { sql } from 'kysely'
import { inTransaction, type Database } from '../platform/db/open.ts'
import { isUuid } from '../platform/lib/ids.ts'
import type { ShieldSetting } from './shield-setting.ts'
import { carryOver, putCap } from './put-cap.ts'
import { API_KEY_CHANNEL, toApiKey, type ApiKey, type ApiKeyInput } from './api-keys.ts'
import { lockCustomer } from './customers.ts'
import type { AskedRights, KeyRefusal } from './key-makers.ts'
import type { KeyScope } from './key-scopes.ts'
import type { NanoBrl } from '../platform/lib/money.ts'

/** A change of a key. A missing field stays unchanged; null removes the limit. */
export interface ApiKeyChange {
  readonly name?: string
  readonly scope?: KeyScope
  /** Null: every model of the catalog, also later ones. */
  readonly modelIds?: readonly string[] | null
  readonly ipAllowlist?: readonly string[] | null
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number | null
  readonly budget?: NonNullable<ApiKeyInput['budget']> | null
  readonly minuteLimitNanoBrl?: NanoBrl | null
  readonly dayLimitNanoBrl?: NanoBrl | null
  readonly taskLimitNanoBrl?: NanoBrl | null
  readonly callsAtOnce?: number | null
  readonly cacheSeconds?: number | null
  readonly autoCache?: boolean
  readonly expiresAt?: Date | null
  /** Null: the account's setting. */
  readonly shield?: ShieldSetting | null
}

export type ApiKeyChanged =
  | { readonly kind: 'changed'; readonly key: ApiKey }
  | { readonly kind: 'key_not_found' }
  | { readonly kind: 'key_revoked' }
  | KeyRefusal

/**
 * Creates a new version of the key and notifies all nodes. A changed budget or cap keeps its held amount and the amount
 * spent in the current period, also if the period changes. A new one starts at zero.
 */
export async function changeApiKey(
  db: Database,
  customerId: string,
  keyId: string,
  change: ApiKeyChange,
  /** Looks at the key before and after the change, with its row locked. */
  findRefusal: (
    trx: Database,
    before: ApiKey,
    after: AskedRights,
  ) => Promise<KeyRefusal | undefined> = async () => undefined,
): Promise<ApiKeyChanged> {
  if (!isUuid(keyId)) return { kind: 'key_not_found' }
  return inTransaction(db, async (trx) => {
    // The account is locked first, as in every transaction. It keeps this key from holding and resolving meanwhile.
    const isHeldFrom = [change.budget, change.minuteLimitNanoBrl, change.dayLimitNanoBrl]
    if (isHeldFrom.some((limit) => limit !== undefined))
      await sql`select 1 from accounts where customer_id = ${customerId} for no key update`.execute(
        trx,
      )
    await lockCustomer(trx, customerId)
    const found = await trx
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', keyId)
      .where('customer_id', '=', customerId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!found) return { kind: 'key_not_found' }
    if (found.revoked_at) return { kind: 'key_revoked' }
    const before = toApiKey(found)
    const { name: _name, budget: _budget, ...rights } = change
    const refusal = await findRefusal(trx, before, { ...before, ...rights })
    if (refusal) return refusal
    if (change.budget === null)
      await trx.deleteFrom('api_key_budgets').where('api_key_id', '=', keyId).execute()
    else if (change.budget) await putBudget(trx, keyId, change.budget)
    const { minuteLimitNanoBrl, dayLimitNanoBrl } = change
    if (minuteLimitNanoBrl !== undefined) await putCap(trx, keyId, 'minute', minuteLimitNanoBrl)
    if (dayLimitNanoBrl !== undefined) await putCap(trx, keyId, 'day', dayLimitNanoBrl)
    return { kind: 'changed', key: await updateRow(trx, keyId, change) }
  })
}

async function updateRow(trx: Database, keyId: string, change: ApiKeyChange): Promise<ApiKey> {
  const { name, scope, modelIds, ipAllowlist, requestsPerMinute, tokensPerMinute } = change
  const { taskLimitNanoBrl, callsAtOnce, cacheSeconds, autoCache, expiresAt, shield } = change
  const row = await trx
    .updateTable('api_keys')
    .set((column) => ({
      version: column('version', '+', 1),
      ...(name === undefined ? {} : { name }),
      ...(scope === undefined ? {} : { scope }),
      ...(modelIds === undefined ? {} : { model_ids: modelIds && [...modelIds] }),
      ...(ipAllowlist === undefined ? {} : { ip_allowlist: ipAllowlist && [...ipAllowlist] }),
      ...(requestsPerMinute === undefined ? {} : { requests_per_minute: requestsPerMinute }),
      ...(tokensPerMinute === undefined
        ? {}
        : { tokens_per_minute: tokensPerMinute === null ? null : BigInt(tokensPerMinute) }),
      ...(taskLimitNanoBrl === undefined ? {} : { task_limit_nano_brl: taskLimitNanoBrl }),
      ...(callsAtOnce === undefined ? {} : { calls_at_once: callsAtOnce }),
      ...(cacheSeconds === undefined ? {} : { cache_seconds: cacheSeconds }),
      ...(autoCache === undefined ? {} : { auto_cache: autoCache }),
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      ...(shield === undefined
        ? {}
        : { shield_action: shield?.action ?? null, shield_uuids: shield?.uuids ?? null }),
    }))
    .where('id', '=', keyId)
    .returningAll()
    .executeTakeFirstOrThrow()
  await sql`select pg_notify(${API_KEY_CHANNEL}, ${keyId.toLowerCase()})`.execute(trx)
  return toApiKey(row)
}

/** Running calls that began under an earlier budget count as held in this one until they end. */
async function putBudget(
  trx: Database,
  keyId: string,
  { limitPicoUsd, period }: NonNullable<ApiKeyInput['budget']>,
): Promise<void> {
  await sql`
    insert into api_key_budgets as stored (api_key_id, period, timezone, limit_pico_usd, held_pico_usd)
    select k.id, ${period}, c.timezone, ${limitPicoUsd},
      (select coalesce(sum(h.budget_pico_usd), 0)::int8 from holds h where h.api_key_id = k.id)
    from api_keys k join customers c on c.id = k.customer_id
    where k.id = ${keyId}
    on conflict (api_key_id) do update set
      limit_pico_usd = excluded.limit_pico_usd,
      period = excluded.period,
      ${carryOver('pico_usd')}`.execute(trx)
}
