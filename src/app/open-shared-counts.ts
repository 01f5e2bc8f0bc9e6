import {
  createRateLimiter,
  createSummedSender,
  type RateLimiter,
  type Sums,
} from '../platform/admission/rate.ts'
import {
  createRunningExchange,
  NOTHING_ELSEWHERE,
  type RunningCounts,
  type SharedRunning,
} from '../platform/admission/share.ts'
import type { ProcessPlace } from './process-place.ts'

/** The counts of the limits in memory, which the workers of a server exchange. */
export interface SharedCounts {
  /** How many run at once, of one kind of work. */
  runningOf(kind: 'archive' | 'calls' | 'exports' | 'images' | 'routes' | 'sockets'): SharedRunning
  /** Of requests in a minute; its users begin their subjects differently. */
  readonly limiter: RateLimiter
}

export function openSharedCounts(place: ProcessPlace): SharedCounts {
  if (place.role !== 'worker')
    return { runningOf: () => NOTHING_ELSEWHERE, limiter: createRateLimiter() }
  const { parent } = place
  const running = createRunningExchange((counts) => parent.post('running', counts))
  parent.on('running', (data) => {
    const { from, counts } = data as { from: string; counts: RunningCounts }
    running.receive(from, counts)
  })
  parent.on('left', (from) => running.forget(String(from)))
  parent.on('joined', () => running.sendAll())
  const noteTaken = createSummedSender((sums) => parent.post('taken', sums))
  const limiter = createRateLimiter(undefined, noteTaken)
  parent.on('taken', (sums) => {
    for (const [subject, ms] of sums as Sums) limiter.takeElsewhere(subject, ms)
  })
  return { runningOf: (kind) => running.of(kind), limiter }
}
