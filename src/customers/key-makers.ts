/**
 * The rules for creating and changing keys. The acts in `key-acts.ts` ask here, so no interface can bypass them:
 * - `manage` and `operator` are granted only by a login session whose user proved their identity recently; a key with
 *   `manage` is changed only by such a session. A key with `operator` is never changed, and no key becomes one: whether
 *   the user is an operator is asked where it is created (`POST /api-keys`).
 * - A key creates and changes only keys without more rights than its own. Only a `manage` key creates or changes keys at
 *   all, and no key changes a `manage` key, so no key changes itself.
 * - A key with a budget, a cap, or a limit of tokens per minute or of calls at once creates and changes no keys: several
 *   keys, each with that limit, could do more than one.
 * - A key with any limit does nothing that outlives it or reaches beyond the limit: of the acts that need `manage`, it
 *   has those of the access `within` (`src/http/rest/access.ts`), and waives no balance.
 * - A key gives its account no laxer shield than its own.
 * - Only a `manage` key without limits makes its account store responses, or store them for longer: any `account` key reads them.
 */
import { sql } from 'kysely'
import type { Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { isLaxer, type ShieldSetting, findShield } from './shield-setting.ts'
import { toApiKey, type ApiKey, type ApiKeyRow } from './api-keys.ts'
import { isWithinBlocks } from './ip-allowlist.ts'
import { coversScope, type KeyScope } from './key-scopes.ts'

export type KeyRefusal =
  | { readonly kind: 'proof_needed' }
  /** The key that makes or changes it was revoked or paused, or has expired; this node may not know yet. */
  | { readonly kind: 'own_key_ended' }
  /** A key with the scope `operator` stays as it was created. */
  | { readonly kind: 'scope_of_operator' }
  /** A key of a team is for model calls only. */
  | { readonly kind: 'scope_of_team' }
  /** `field`: the field in which the key would exceed the key that creates or changes it. */
  | { readonly kind: 'beyond_own_key'; readonly field: string }

/** Rights as they are asked for: a shield of null is the account's. */
export type AskedRights = Omit<KeyRights, 'shield'> & { readonly shield: ShieldSetting | null }

export async function findNewKeyRefusal(
  trx: Database,
  {
    actor,
    customerId,
    wanted,
  }: { readonly actor: Actor; readonly customerId: string; readonly wanted: AskedRights },
): Promise<KeyRefusal | undefined> {
  const isGranted = wanted.scope === 'manage' || wanted.scope === 'operator'
  if (isGranted && actor.isProved !== true) return { kind: 'proof_needed' }
  const own = await lockOwnKey(trx, actor)
  return own && findBeyond(trx, own, customerId, wanted)
}

export async function findChangeRefusal(
  trx: Database,
  {
    actor,
    before,
    after,
  }: { readonly actor: Actor; readonly before: ApiKey; readonly after: AskedRights },
): Promise<KeyRefusal | undefined> {
  if (before.scope === 'operator' || after.scope === 'operator')
    return { kind: 'scope_of_operator' }
  if (before.teamId !== null && after.scope !== 'calls') return { kind: 'scope_of_team' }
  const isManage = before.scope === 'manage' || after.scope === 'manage'
  if (isManage && actor.isProved !== true) return { kind: 'proof_needed' }
  const own = await lockOwnKey(trx, actor)
  return own && findBeyond(trx, own, before.customerId, before, after)
}

/** The rights of a key for calls without limits. Each key has a limit of requests, so that is none here. */
const UNLIMITED: AskedRights = {
  scope: 'calls',
  modelIds: null,
  ipAllowlist: null,
  requestsPerMinute: 0,
  tokensPerMinute: null,
  taskLimitNanoBrl: null,
  callsAtOnce: null,
  expiresAt: null,
  shield: null,
}

/** Whether the actor may let others spend without a limit, or waive a balance: a session or a key without limits may. */
export async function findLimitRefusal(
  trx: Database,
  { actor }: { readonly actor: Actor },
): Promise<KeyRefusal | undefined> {
  const own = await lockOwnKey(trx, actor)
  // Compared with the shield of the actor's own account, so that only a stricter one of the key itself is a limit.
  return own && findBeyond(trx, own, own.customer_id, UNLIMITED)
}

/** Whether the actor may resume a paused key. */
export async function findResumeRefusal(
  trx: Database,
  { actor, paused }: { readonly actor: Actor; readonly paused: ApiKey },
): Promise<KeyRefusal | undefined> {
  const own = await lockOwnKey(trx, actor)
  return own && findBeyond(trx, own, paused.customerId, paused)
}

/** Whether the actor may give its account this shield. The customer must be locked. */
export async function findShieldRefusal(
  trx: Database,
  { actor, wanted }: { readonly actor: Actor; readonly wanted: ShieldSetting },
): Promise<KeyRefusal | undefined> {
  const own = await lockOwnKey(trx, actor)
  if (!own) return undefined
  const isBeyond = isLaxer(wanted, (await rightsOf(trx, own.customer_id, toApiKey(own))).shield)
  return findEnd(own) ?? (isBeyond ? { kind: 'beyond_own_key', field: 'action' } : undefined)
}

/** Whether the actor may make its account store responses for longer. */
export async function findStoreRefusal(
  trx: Database,
  { actor }: { readonly actor: Actor },
): Promise<KeyRefusal | { readonly kind: 'scope_insufficient' } | undefined> {
  const own = await lockOwnKey(trx, actor)
  if (own && own.scope !== 'manage') return { kind: 'scope_insufficient' }
  return own && findBeyond(trx, own, own.customer_id, UNLIMITED)
}

/** A field in which a key is limited, also one that has ended; undefined: it has no limit. Locks nothing. */
export async function findLimit(db: Database, keyId: string): Promise<string | undefined> {
  const own = await selectOwnKey(db, keyId).executeTakeFirstOrThrow()
  return findLack(db, own, own.customer_id, UNLIMITED)
}

type OwnKey = ApiKeyRow & {
  readonly has_budget: boolean
  readonly has_caps: boolean
  readonly is_over: boolean
}

function selectOwnKey(db: Database, apiKeyId: string) {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .select(
      sql<boolean>`revoked_at is not null or paused_at is not null or coalesce(expires_at <= now(), false)`.as(
        'is_over',
      ),
    )
    .where('id', '=', apiKeyId)
}

/** The actor's key, which cannot change before the end of the transaction. */
async function lockOwnKey(trx: Database, { apiKeyId }: Actor): Promise<OwnKey | undefined> {
  if (apiKeyId === undefined) return undefined
  return selectOwnKey(trx, apiKeyId).forShare().executeTakeFirstOrThrow()
}

function findEnd({ is_over }: OwnKey): KeyRefusal | undefined {
  return is_over ? { kind: 'own_key_ended' } : undefined
}

/** Whether the actor's key has ended, or has less than the rights `wanted` of keys of the account `customerId`. */
async function findBeyond(
  trx: Database,
  own: OwnKey,
  customerId: string,
  ...wanted: readonly AskedRights[]
): Promise<KeyRefusal | undefined> {
  const end = findEnd(own)
  if (end) return end
  const field = await findLack(trx, own, customerId, ...wanted)
  return field === undefined ? undefined : { kind: 'beyond_own_key', field }
}

async function findLack(
  trx: Database,
  own: OwnKey,
  customerId: string,
  ...wanted: readonly AskedRights[]
): Promise<string | undefined> {
  if (own.has_budget) return 'budget'
  if (own.has_caps) return 'caps'
  const rights = await rightsOf(trx, own.customer_id, toApiKey(own))
  for (const each of wanted) {
    const field = findExcess(rights, await rightsOf(trx, customerId, each))
    if (field !== undefined) return field
  }
  return undefined
}

async function rightsOf(trx: Database, customerId: string, asked: AskedRights): Promise<KeyRights> {
  return { ...asked, shield: asked.shield ?? (await findShield(trx, customerId)) }
}

/** Compares what two keys may do: no key makes or changes one that may more than itself. */
interface KeyRights {
  readonly scope: KeyScope
  readonly modelIds: readonly string[] | null
  readonly ipAllowlist: readonly string[] | null
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number | null
  readonly taskLimitNanoBrl: bigint | null
  readonly callsAtOnce: number | null
  readonly expiresAt: Date | null
  /** In force: the key's own, or else its account's. */
  readonly shield: ShieldSetting
}

/** The first field in which a key with the rights `wanted` may more than one with the rights `own`. */
function findExcess(own: KeyRights, wanted: KeyRights): string | undefined {
  const isWithin: Readonly<Record<string, boolean>> = {
    scope: coversScope(own.scope, wanted.scope),
    model_ids: own.modelIds === null || isSubset(wanted.modelIds, own.modelIds),
    ip_allowlist: own.ipAllowlist === null || isWithinBlocks(wanted.ipAllowlist, own.ipAllowlist),
    requests_per_minute: wanted.requestsPerMinute <= own.requestsPerMinute,
    // Several keys, each with that limit, could do more than one.
    tokens_per_minute: own.tokensPerMinute === null,
    task_limit_brl: isAtMost(wanted.taskLimitNanoBrl, own.taskLimitNanoBrl),
    calls_at_once: own.callsAtOnce === null,
    shield: !isLaxer(wanted.shield, own.shield),
    expires_at: isAtMost(wanted.expiresAt?.getTime() ?? null, own.expiresAt?.getTime() ?? null),
  }
  return Object.keys(isWithin).find((field) => !isWithin[field])
}

function isSubset(wanted: readonly string[] | null, own: readonly string[]): boolean {
  return wanted !== null && wanted.every((each) => own.includes(each))
}

/** Null: no limit. */
function isAtMost(wanted: number | bigint | null, own: number | bigint | null): boolean {
  return own === null || (wanted !== null && wanted <= own)
}
