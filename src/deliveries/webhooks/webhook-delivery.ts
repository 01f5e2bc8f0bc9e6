/**
 * The worker of webhooks. A message is delivered at least once, always under the same `webhook-id`; an attempt whose
 * outcome cannot be recorded is repeated when its lease ends.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Lookup } from '../../platform/lib/guarded-fetch.ts'
import type { Log } from '../../platform/lib/log.ts'
import { createRunner, type Runner } from '../create-runner.ts'
import type { ReceiverSettings } from '../receiver.ts'
import { concludeAttempt } from './conclude-attempt.ts'
import { giveBackAttempt, leaseDueAttempts, type LeasedAttempt } from './lease-attempts.ts'
import { postAttempt } from './post-attempt.ts'

export interface WebhookDeliveryDeps {
  readonly db: Database
  readonly settings: ReceiverSettings
  readonly log: Log
  /** Limit of a whole try; 15 s by default. */
  readonly timeoutMs?: number
  /** The clock; the database's own by default. */
  readonly now?: () => Date
  readonly random?: () => number
  readonly lookup?: Lookup
}

/** Concurrent tries on this node. */
const SLOTS = 20
const TIMEOUT_MS = 15_000
/** The pause after a fault of our own, such as a wrong key, which only people can repair. */
const GIVE_BACK_SECONDS = 300

export function createWebhookDelivery(deps: WebhookDeliveryDeps): Runner {
  const { db, log } = deps
  const claim = (limit: number) => leaseDueAttempts(db, { limit, at: timeOf(deps) })
  return createRunner<LeasedAttempt>({
    kind: 'webhook',
    lanes: [{ slots: SLOTS, claim }],
    log,
    work: (attempt) => deliver(deps, attempt),
    giveBack: (attempt) =>
      giveBackAttempt(db, attempt, { at: timeOf(deps), seconds: GIVE_BACK_SECONDS }),
  })
}

async function deliver(deps: WebhookDeliveryDeps, attempt: LeasedAttempt): Promise<void> {
  const { db, settings, log, lookup, random, timeoutMs = TIMEOUT_MS } = deps
  const outcome = await postAttempt(attempt, nowOf(deps), { ...settings, timeoutMs, lookup })
  const at = timeOf(deps)
  await concludeAttempt(db, attempt, outcome, { now: nowOf(deps), at, random })
  const { id: deliveryId, endpointId: webhookId, tryNumber } = attempt
  const { isDelivered, httpStatus, error: reason, latencyMs } = outcome
  const facts = { deliveryId, webhookId, tryNumber, httpStatus, reason, latencyMs }
  if (isDelivered) log.debug('webhook_delivered', facts)
  else log.info('webhook_not_delivered', facts)
}

function nowOf({ now }: WebhookDeliveryDeps): Date {
  return now?.() ?? new Date()
}

function timeOf({ now }: WebhookDeliveryDeps): RawBuilder<Date> {
  return now ? sql<Date>`${now()}::timestamptz` : sql<Date>`now()`
}
