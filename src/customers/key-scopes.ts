/**
 * What a key may do, in ascending order: each scope allows what the ones before it allow.
 * - `calls`: model calls, the catalog and `GET /usage`; for servers and agents.
 * - `account`: the self-service that the specification lists.
 * - `manage`: keys, charges of saved cards, automatic top-ups, webhooks, teams and the deletion of the account.
 *
 * `src/http/rest/access.ts` decides which scope a route needs.
 */
export const KEY_SCOPES = ['calls', 'account', 'manage'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

export function coversScope(held: KeyScope, wanted: KeyScope): boolean {
  return KEY_SCOPES.indexOf(held) >= KEY_SCOPES.indexOf(wanted)
}

interface KeyLimits {
  readonly modelIds?: unknown
  readonly ipAllowlist?: unknown
  readonly budget?: unknown
  readonly expiresAt?: unknown
  readonly teamId?: unknown
  readonly minuteLimitNanoBrl?: unknown
  readonly dayLimitNanoBrl?: unknown
  readonly taskLimitNanoBrl?: unknown
}

/** The scope of a new key whose request names none: `calls` if the key has any limit, otherwise `account`. */
export function defaultScope(limits: KeyLimits): KeyScope {
  const { modelIds, ipAllowlist, budget, expiresAt, teamId } = limits
  const caps = [limits.minuteLimitNanoBrl, limits.dayLimitNanoBrl, limits.taskLimitNanoBrl]
  const isLimited = [modelIds, ipAllowlist, budget, expiresAt, teamId, ...caps].some(
    (limit) => limit !== undefined,
  )
  return isLimited ? 'calls' : 'account'
}
