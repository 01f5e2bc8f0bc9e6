/**
 * Keys by the hash of their secret, kept for a minute. The cache may be stale and need not be right:
 * every hold names the key's version and the database refuses an old one. Keeping it fresh only makes
 * the refusals before the hold (revoked, wrong model, wrong address) prompt.
 */
import { hash } from 'node:crypto'
import type { Database } from '../db/open.ts'
import { isUuid } from '../lib/ids.ts'
import { findApiKey, type ApiKey, type FoundApiKey } from './api-keys.ts'
import { createIpMatcher, type IpMatcher } from './ip-allowlist.ts'

/** A key with what is looked up on every request made ready. */
export interface ActiveKey extends ApiKey {
  readonly ipMatcher: IpMatcher | null
  readonly modelIdSet: ReadonlySet<string> | null
  /** Of its customer: no model is called for it. */
  readonly isAccountSuspended: boolean
}

export interface KeyCache {
  /** The active key of this secret; undefined where there is none, or it is revoked or expired. */
  find(secret: string): Promise<ActiveKey | undefined>
  /** The active key of this id among those of the customer, asked of the database each time. */
  findOwn(customerId: string, keyId: string): Promise<ActiveKey | undefined>
  /** Forgets a key that was changed; a load that began before is not kept. */
  forget(keyId: string): void
  /** Forgets all: changes may have been missed. */
  clear(): void
}

const KEEP_MS = 60_000
const ENTRIES_MAX = 50_000

interface Entry {
  key: ActiveKey
  loadedAtMs: number
}

/** `noteUse` is told of each key that is found, on the hot path. */
export function createKeyCache(
  db: Database,
  noteUse: (keyId: string) => void = () => {},
  now: () => number = Date.now,
): KeyCache {
  const entries = new Map<string, Entry>()
  const loading = new Map<string, Promise<ActiveKey | undefined>>()
  /** Grows with every forgetting, so that a load can see that its answer may be old. */
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

  /** Undefined where it is expired; a key that is given out is used. */
  function giveOut(key: ActiveKey | undefined): ActiveKey | undefined {
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= now())) return undefined
    noteUse(key.id)
    return key
  }

  return {
    async find(secret) {
      const digest = hash('sha256', secret, 'base64')
      const entry = entries.get(digest)
      let key = entry && now() - entry.loadedAtMs < KEEP_MS ? entry.key : undefined
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
    forget(keyId) {
      epoch += 1
      for (const [digest, entry] of entries) if (entry.key.id === keyId) entries.delete(digest)
    },
    clear() {
      epoch += 1
      entries.clear()
    },
  }
}

function makeReady(found: FoundApiKey): ActiveKey {
  return {
    ...found,
    ipMatcher: found.ipAllowlist && createIpMatcher(found.ipAllowlist),
    modelIdSet: found.modelIds && new Set(found.modelIds),
  }
}
