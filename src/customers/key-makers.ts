/**
 * The rules for creating and changing keys. The acts in `key-acts.ts` ask here, so no interface can bypass them:
 * - `manage` is granted only by a login session whose user proved their identity recently; a key that has it is changed
 *   only by such a session.
 * - A key creates and changes only keys without more rights than its own. Only a `manage` key creates or changes keys at
 *   all, and no key changes a `manage` key, so no key changes itself.
 * - A key with a budget creates and changes no keys: several keys, each with that budget, could spend more than one.
 */
import { sql } from 'kysely'
import type { Actor } from '../audit-log/audited.ts'
import type { Database } from '../db/open.ts'
import { toApiKey, type ApiKey, type ApiKeyRow } from './api-keys.ts'
import { findExcess, type KeyRights } from './find-excess.ts'

export type KeyRefusal =
  | { readonly kind: 'proof_needed' }
  /** The key that makes or changes it was revoked or has expired; this node may not know yet. */
  | { readonly kind: 'own_key_ended' }
  /** A key of a team is for model calls only. */
  | { readonly kind: 'scope_of_team' }
  /** `field`: the field in which the key would exceed the key that creates or changes it. */
  | { readonly kind: 'beyond_own_key'; readonly field: string }

export async function findNewKeyRefusal(
  trx: Database,
  { actor, wanted }: { readonly actor: Actor; readonly wanted: KeyRights },
): Promise<KeyRefusal | undefined> {
  if (wanted.scope === 'manage' && actor.isProved !== true) return { kind: 'proof_needed' }
  const own = await lockOwnKey(trx, actor)
  return own && (findEnd(own) ?? findBeyond(own, wanted))
}

export async function findChangeRefusal(
  trx: Database,
  {
    actor,
    before,
    after,
  }: { readonly actor: Actor; readonly before: ApiKey; readonly after: KeyRights },
): Promise<KeyRefusal | undefined> {
  if (before.teamId !== null && after.scope !== 'calls') return { kind: 'scope_of_team' }
  const isManage = before.scope === 'manage' || after.scope === 'manage'
  if (isManage && actor.isProved !== true) return { kind: 'proof_needed' }
  const own = await lockOwnKey(trx, actor)
  return own && (findEnd(own) ?? findBeyond(own, before) ?? findBeyond(own, after))
}

type OwnKey = ApiKeyRow & { readonly has_budget: boolean; readonly is_over: boolean }

/** The actor's key, which cannot change before the end of the transaction. */
async function lockOwnKey(trx: Database, { apiKeyId }: Actor): Promise<OwnKey | undefined> {
  if (apiKeyId === undefined) return undefined
  return trx
    .selectFrom('api_keys')
    .selectAll()
    .select(
      sql<boolean>`revoked_at is not null or coalesce(expires_at <= now(), false)`.as('is_over'),
    )
    .where('id', '=', apiKeyId)
    .forShare()
    .executeTakeFirstOrThrow()
}

function findEnd({ is_over }: OwnKey): KeyRefusal | undefined {
  return is_over ? { kind: 'own_key_ended' } : undefined
}

function findBeyond(own: OwnKey, wanted: KeyRights): KeyRefusal | undefined {
  const field = own.has_budget ? 'budget' : findExcess(toApiKey(own), wanted)
  return field === undefined ? undefined : { kind: 'beyond_own_key', field }
}
