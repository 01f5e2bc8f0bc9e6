/**
 * Sends the usage of customers to their own collectors. Calls never wait for it: it reads what the ledger has stored. A
 * destination that fails or is slow holds up no other one: it has a share of the places, and its own pause.
 */
import { claimDestinations, type ClaimedDestination } from './claim-destinations.ts'
import { isCustomerDeleted } from '../../customers/customers.ts'
import { sendUsage, type SendUsageDeps } from './send-usage.ts'

export interface UsageExport {
  /** Starts the due destinations for which there is a free place, and returns their number without waiting for them. */
  sendDue(): Promise<number>
  /** Resolves when nothing is being sent. */
  whenIdle(): Promise<void>
  /** Starts nothing more, and waits for what runs. */
  stop(): Promise<void>
}

/** Destinations at once on this node. */
const PLACES = { quick: 12, slow: 8 } as const
type Pace = keyof typeof PLACES

export function createUsageExport(deps: SendUsageDeps): UsageExport {
  const running = {
    quick: new Map<string, Promise<void>>(),
    slow: new Map<string, Promise<void>>(),
  }
  let filling: Promise<number> | undefined
  /** A place may have become free since the running fill counted them. */
  let mustRepeat = false
  let isStopped = false

  const fill = (): Promise<number> => {
    if (filling) mustRepeat = true
    else filling = fillAll().finally(() => (filling = undefined))
    return filling
  }
  const fillAll = async (): Promise<number> => {
    let started = 0
    do {
      mustRepeat = false
      started += await claim()
    } while (mustRepeat)
    return started
  }
  const claim = async (): Promise<number> => {
    let started = 0
    for (const pace of ['quick', 'slow'] as const) {
      const limit = PLACES[pace] - running[pace].size
      if (isStopped || limit <= 0) continue
      // A change or a test makes one due that is being sent to: it waits for its place, and never has two.
      const busy = [...running.quick.keys(), ...running.slow.keys()]
      const claimed = await claimDestinations(deps.db, pace, limit, busy)
      for (const destination of claimed) start(pace, destination)
      started += claimed.length
    }
    return started
  }
  const start = (pace: Pace, destination: ClaimedDestination): void => {
    const work = send(deps, destination).finally(() => {
      running[pace].delete(destination.id)
      // The free place may have another destination waiting for it.
      fill().catch((error: unknown) => deps.log.warn('usage_destinations_not_claimed', { error }))
    })
    running[pace].set(destination.id, work)
  }
  const whenIdle = async (): Promise<void> => {
    for (;;) {
      const work = [
        ...running.quick.values(),
        ...running.slow.values(),
        ...(filling ? [filling] : []),
      ]
      if (work.length === 0) return
      await Promise.allSettled(work)
    }
  }
  return {
    sendDue: fill,
    whenIdle,
    async stop() {
      isStopped = true
      await whenIdle()
    },
  }
}

/** Never throws. What is not recorded is sent again when the lease ends. */
async function send(deps: SendUsageDeps, destination: ClaimedDestination): Promise<void> {
  try {
    await sendUsage(deps, destination)
  } catch (error) {
    if (isCustomerDeleted(error)) return
    deps.log.error('usage_export_failed', { destinationId: destination.id, error })
  }
}
