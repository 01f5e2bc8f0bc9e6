/**
 * How many REST requests one caller may make in a minute, on this server. Model calls have limits of their own, which the
 * ledger counts over all nodes.
 */
import type { FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Limits } from '../../gateway/calls/limits.ts'
import { nearNetwork, wideNetwork } from '../../platform/lib/client-networks.ts'
import { createRateLimiter, type RateLimiter } from '../../platform/admission/rate.ts'
import { isRead } from './access.ts'
import { RestRefusal } from './rest-refusal.ts'

/** A key, or a login session. */
type CountedCaller = { readonly customerId: string } & (
  | { readonly keyId: string }
  | { readonly keyId?: undefined; readonly sessionId: string }
)

export interface RestLimits {
  /** Counts a request of a known caller. Throws a `RestRefusal` (429) beyond the limit, as the others do. */
  countCaller(request: FastifyRequest, caller: CountedCaller): void
  /** Counts a request without a key or a session for its network, as one of `cost`. */
  countStranger(request: FastifyRequest, cost?: number): void
  /** Counts a key or a session that is not valid. */
  countWrongKey(request: FastifyRequest): void
  /** Before an unknown key is looked up in the database: refuses a network that has tried too many. */
  assertMayTryKeys(request: FastifyRequest): void
}

export interface RestLimitTerms {
  /** Requests per minute of one key or login session; a request that writes counts as `WRITE_COST`. */
  readonly perKey: number
  /** Requests per minute without a valid key from one IPv4 address or IPv6 /64; a wrong key counts as `WRONG_KEY_COST`. */
  readonly perNetwork: number
}

/** A write costs several times the processor and disk of a read. */
export const WRITE_COST = 4
/** A program with a mistyped key sees 401 this many times less often before it is slowed down. */
export const WRONG_KEY_COST = 10
/**
 * How many times the limit of one key all keys of an account together may use, and all its sessions: more keys give no
 * more than this.
 */
export const ACCOUNT_FACTOR = 5
/** How many times the limit of a /64 a /48 may use: one tenant gets the 65,536 networks of a /48 without effort. */
export const WIDE_FACTOR = 10

export function createRestLimits(
  { perKey, perNetwork }: RestLimitTerms,
  limiter: RateLimiter = createRateLimiter(),
): RestLimits {
  function assertTaken(wait: number | undefined, perMinute: number): void {
    if (wait !== undefined) throw new TooManyRequests(wait, perMinute)
  }

  function takeOfNetwork(request: FastifyRequest, cost: number): void {
    const ip = plainIp(request.ip)
    const wide = wideNetwork(ip)
    assertTaken(limiter.take(`n:${nearNetwork(ip)}`, perNetwork, cost), perNetwork)
    if (wide === undefined) return
    const perWide = perNetwork * WIDE_FACTOR
    assertTaken(limiter.take(`w:${wide}`, perWide, cost), perWide)
  }

  return {
    countCaller({ method }, caller) {
      const cost = isRead(method) ? 1 : WRITE_COST
      const [one, all] =
        caller.keyId === undefined
          ? [`s:${caller.sessionId}`, `as:${caller.customerId}`]
          : [`k:${caller.keyId}`, `ak:${caller.customerId}`]
      assertTaken(limiter.take(one, perKey, cost), perKey)
      const perAccount = perKey * ACCOUNT_FACTOR
      assertTaken(limiter.take(all, perAccount, cost), perAccount)
    },
    countStranger: (request, cost = 1) => takeOfNetwork(request, cost),
    countWrongKey: (request) => takeOfNetwork(request, WRONG_KEY_COST),
    assertMayTryKeys(request) {
      const ip = plainIp(request.ip)
      const wide = wideNetwork(ip)
      assertTaken(limiter.findWait(`n:${nearNetwork(ip)}`, perNetwork, WRONG_KEY_COST), perNetwork)
      if (wide === undefined) return
      const perWide = perNetwork * WIDE_FACTOR
      assertTaken(limiter.findWait(`w:${wide}`, perWide, WRONG_KEY_COST), perWide)
    },
  }
}

/** Its answer shows the limit that refused, in place of the limit of model calls. */
export class TooManyRequests extends RestRefusal {
  readonly limits: Limits
  constructor(seconds: number, perMinute: number) {
    super(
      429,
      'rate_limit_exceeded',
      `Requisições demais em um minuto. Tente de novo em ${seconds} s.`,
      seconds,
    )
    const resetAt = Math.ceil(Date.now() / 1_000) + seconds
    this.limits = { limit: perMinute, remaining: 0, resetAt }
  }
}
