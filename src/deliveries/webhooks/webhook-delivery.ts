/**
 * The worker of webhooks: leases due attempts while it has free slots; a slow receiver occupies only its own
 * slots. A message is delivered at least once, always under the same `webhook-id`.
 */
import { sql, type RawBuilder } from 'kysely'
import { isCustomerDeleted } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Lookup } from '../../platform/lib/guarded-fetch.ts'
import type { Log } from '../../platform/lib/log.ts'
import { concludeAttempt, type OnWebhookDisabled } from './conclude-attempt.ts'
import { giveBackAttempt, leaseDueAttempts, type LeasedAttempt } from './lease-attempts.ts'
import { postAttempt } from './post-attempt.ts'
import type { WebhookSettings } from './webhook-settings.ts'

export interface WebhookDeliveryDeps {
  readonly db: Database
  readonly settings: WebhookSettings
  readonly onDisabled: OnWebhookDisabled
  readonly log: Log
  /** Limit of a whole try; 15 s by default. */
  readonly timeoutMs?: number
  /** The clock; the database's own by default. */
  readonly now?: () => Date
  readonly random?: () => number
  readonly lookup?: Lookup
}

export interface WebhookDelivery {
  /**
   * Starts the due attempts for which there is a free slot, and returns their number without waiting for them.
   */
  deliverDueWebhooks(): Promise<number>
  /** Resolves when no attempt runs. */
  whenIdle(): Promise<void>
  /** Starts no more attempts, and waits for the running ones. */
  stop(): Promise<void>
}

/** Concurrent tries on this node. */
const AT_ONCE = 20
const TIMEOUT_MS = 15_000
/** The pause after a fault of our own, such as a wrong key, which only people can repair. */
const GIVE_BACK_SECONDS = 300

export function createWebhookDelivery(deps: WebhookDeliveryDeps): WebhookDelivery {
  const running = new Set<Promise<void>>()
  let filling: Promise<number> | undefined
  let isStopped = false

  const fill = (): Promise<number> => {
    filling ??= lease().finally(() => (filling = undefined))
    return filling
  }
  const lease = async (): Promise<number> => {
    const limit = AT_ONCE - running.size
    if (isStopped || limit <= 0) return 0
    const attempts = await leaseDueAttempts(deps.db, { limit, at: timeOf(deps) })
    for (const attempt of attempts) start(attempt)
    return attempts.length
  }
  const start = (attempt: LeasedAttempt): void => {
    const work = deliver(deps, attempt).finally(() => {
      running.delete(work)
      // The free slot may have another attempt waiting for it.
      fill().catch((error: unknown) => deps.log.warn('webhooks_not_leased', { error }))
    })
    running.add(work)
  }
  const whenIdle = async (): Promise<void> => {
    for (;;) {
      const work = [...running, ...(filling ? [filling] : [])]
      if (work.length === 0) return
      await Promise.allSettled(work)
    }
  }
  return {
    deliverDueWebhooks: fill,
    whenIdle,
    async stop() {
      isStopped = true
      await whenIdle()
    },
  }
}

/** Never throws. An attempt whose outcome cannot be recorded is repeated when the lease ends. */
async function deliver(deps: WebhookDeliveryDeps, attempt: LeasedAttempt): Promise<void> {
  const { db, settings, log, lookup, random, timeoutMs = TIMEOUT_MS } = deps
  const facts = { deliveryId: attempt.id, webhookId: attempt.endpointId }
  try {
    const options = { ...settings, timeoutMs, ...(lookup ? { lookup } : {}) }
    const outcome = await postAttempt(attempt, nowOf(deps), options)
    await concludeAttempt(db, attempt, outcome, {
      now: nowOf(deps),
      at: timeOf(deps),
      onDisabled: deps.onDisabled,
      ...(random ? { random } : {}),
    })
    const { tryNumber } = attempt
    const { isDelivered, httpStatus, error: reason, latencyMs } = outcome
    const result = { ...facts, tryNumber, httpStatus, reason, latencyMs }
    if (isDelivered) log.debug('webhook_delivered', result)
    else log.info('webhook_not_delivered', result)
  } catch (error) {
    // Nothing more is sent for a deleted account.
    if (isCustomerDeleted(error)) return
    log.error('webhook_attempt_failed', { ...facts, error })
    await giveBackAttempt(db, attempt, { at: timeOf(deps), seconds: GIVE_BACK_SECONDS }).catch(
      (error: unknown) => log.warn('webhook_not_given_back', { ...facts, error }),
    )
  }
}

function nowOf({ now }: WebhookDeliveryDeps): Date {
  return now?.() ?? new Date()
}

function timeOf({ now }: WebhookDeliveryDeps): RawBuilder<Date> {
  return now ? sql<Date>`${now()}::timestamptz` : sql<Date>`now()`
}
