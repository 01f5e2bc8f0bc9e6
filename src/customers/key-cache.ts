/**
 * Caches keys for a minute by the hash of their secret. Correctness does not depend on the cache: every hold names the
 * key's version, and the database refuses an old one. A fresh cache only makes the refusals before the hold (revoked,
 * wrong model, wrong address) take effect sooner.
 */
import { hash } from 'node:crypto'
import type { Database } from '../platform/db/open.ts'
import { isUuid } from '../platform/lib/ids.ts'
import { findApiKey, type ApiKey, type FoundApiKey } from './api-keys.ts'
import type { ShieldSetting } from './shield-setting.ts'
import { isKeySecret } from './key-secret.ts'
import { createIpMatcher, type IpMatcher } from './ip-allowlist.ts'

/** A key with precomputed lookups for every request, in place of its lists. */
export interface ActiveKey extends Omit<ApiKey, 'ipAllowlist' | 'modelIds'> {
  readonly ipMatcher: IpMatcher | null
  readonly modelIdSet: ReadonlySet<string> | null
  /** The customer's account is suspended: no model may be called. */
  readonly isAccountSuspended: boolean
  /** The key's own setting, or else its account's. */
  readonly shield: ShieldSetting
  /** Days for which the account stores responses; null: it stores none. */
  readonly storedResponsesDays: number | null
}

export interface KeyCache {
  /** The active key with this secret; undefined if it does not exist, is revoked or has expired. */
  find(secret: string): Promise<ActiveKey | undefined>
  /** As `find`, without waiting: undefined also if the cache does not have the key. */
  findCached(secret: string): ActiveKey | undefined
  /** Whether it was an active key when this node last looked it up. */
  isKnown(secret: string): boolean
  /** The customer's active key with this id, read from the database each time. */
  findOwn(customerId: string, keyId: string): Promise<ActiveKey | undefined>
  /** Evicts a changed key. A load that began before is not cached. */
  forget(keyId: string): void
  /** As `forget`, for all keys of a customer. */
  forgetAllOf(customerId: string): void
  /** Evicts all keys, because notifications may have been missed. */
  clear(): void
}

const KEEP_MS = 60_000
const ENTRIES_MAX = 50_000

interface Entry {
  key: ActiveKey
  loadedAtMs: number
}

/** Calls `noteUse` for each key that is found, on the hot path. */
export function createKeyCache(
  db: Database,
  noteUse: (keyId: string) => void = () => {},
  now: () => number = Date.now,
): KeyCache {
  const entries = new Map<string, Entry>()
  const loading = new Map<string, Promise<ActiveKey | undefined>>()
  /** Increases with every eviction, so that a load can detect that its result may be stale. */
  let epoch = 0

  async function load(digest: string): Promise<ActiveKey | undefined> {
    const epochBefore = epoch
    const found = await findApiKey(db, { secretHash: Buffer.from(digest, 'base64') })
    if (!found || found.revokedAt) return undefined
    const key = makeReady(found)
    if (epoch === epochBefore) {
      if (entries.size >= ENTRIES_MAX) entries.delete(entries.keys().next().value as string)
      entries.set(digest, { key, loadedAtMs: now() })
    }
    return key
  }

  /** Returns undefined for an expired key; a returned key counts as used. */
  function giveOut(key: ActiveKey | undefined): ActiveKey | undefined {
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= now())) return undefined
    noteUse(key.id)
    return key
  }

  function evict(isWanted: (key: ActiveKey) => boolean): void {
    epoch += 1
    for (const [digest, { key }] of entries) if (isWanted(key)) entries.delete(digest)
  }

  function cached(digest: string): ActiveKey | undefined {
    const entry = entries.get(digest)
    return entry && now() - entry.loadedAtMs < KEEP_MS ? entry.key : undefined
  }

  return {
    isKnown: (secret) => entries.has(hash('sha256', secret, 'base64')),
    // Only keys with the right checksum are ever cached.
    findCached: (secret) => giveOut(cached(hash('sha256', secret, 'base64'))),
    async find(secret) {
      if (!isKeySecret(secret)) return undefined
      const digest = hash('sha256', secret, 'base64')
      let key = cached(digest)
      if (!key) {
        let pending = loading.get(digest)
        if (!pending) {
          pending = load(digest).finally(() => loading.delete(digest))
          loading.set(digest, pending)
        }
        key = await pending
      }
      return giveOut(key)
    },
    async findOwn(customerId, keyId) {
      if (!isUuid(keyId)) return undefined
      const found = await findApiKey(db, { customerId, id: keyId })
      return giveOut(found && !found.revokedAt ? makeReady(found) : undefined)
    },
    forget: (keyId) => evict((key) => key.id === keyId),
    forgetAllOf: (customerId) => evict((key) => key.customerId === customerId),
    clear() {
      epoch += 1
      entries.clear()
    },
  }
}

function makeReady({ ipAllowlist, modelIds, ...found }: FoundApiKey): ActiveKey {
  return {
    ...found,
    ipMatcher: ipAllowlist && createIpMatcher(ipAllowlist),
    modelIdSet: modelIds && new Set(modelIds),
    shield: found.shield ?? found.accountShield,
  }
}
