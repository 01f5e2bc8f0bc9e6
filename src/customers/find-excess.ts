/** Compares what two keys may do: no key makes or changes one that may more than itself. */
import { isLaxer, type ShieldSetting } from './shield-setting.ts'
import { isWithinBlocks } from './ip-allowlist.ts'
import { coversScope, type KeyScope } from './key-scopes.ts'

export interface KeyRights {
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
export function findExcess(own: KeyRights, wanted: KeyRights): string | undefined {
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
