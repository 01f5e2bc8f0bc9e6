/**
 * What a key may do, in ascending order: each scope allows what the ones before it allow.
 * - `calls`: model calls, the catalog and `GET /usage`; for servers and agents.
 * - `account`: the self-service that the specification lists.
 * - `manage`: keys, charges of saved cards, automatic top-ups, webhooks, teams and the deletion of the account.
 *
 * Outside this order is `operator`: it reads the operators' routes while its owner is an operator with a second factor,
 * and does nothing else.
 *
 * `src/http/rest/access.ts` decides which scope a route needs.
 */
const ORDERED = ['calls', 'account', 'manage'] as const
export const KEY_SCOPES = [...ORDERED, 'operator'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Whether the scope `held` has all rights of `wanted`. `operator` covers no scope, and none covers it. */
export function coversScope(held: KeyScope, wanted: KeyScope): boolean {
  if (held === 'operator' || wanted === 'operator') return false
  return ORDERED.indexOf(held) >= ORDERED.indexOf(wanted)
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

/** Returns the scope of a new key whose request names none: `calls` if the key has any limit, otherwise `account`. */
export function defaultScope(limits: KeyLimits): KeyScope {
  const { modelIds, ipAllowlist, budget, expiresAt, teamId } = limits
  const caps = [limits.minuteLimitNanoBrl, limits.dayLimitNanoBrl, limits.taskLimitNanoBrl]
  const isLimited = [modelIds, ipAllowlist, budget, expiresAt, teamId, ...caps].some(
    (limit) => limit !== undefined,
  )
  return isLimited ? 'calls' : 'account'
}
